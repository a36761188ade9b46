"""Questions: what they show, what answers them, and what does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events
from textual.widgets import TextArea
from textual.worker import Worker

from codeagent.core.effects import (
    Answer,
    AskPermission,
    AskPlan,
    AskSummary,
    AskUser,
    AskValve,
    Choice,
    Effect,
    Question,
    Risk,
    Touch,
    Verdict,
)
from codeagent.core.events import ToolFinished, TurnEnded
from codeagent.core.views import Diff, Hunk, Shell
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.screens.dialog import Dialog
from tests.core.stage import call, say
from tests.tui.desk import screen_text, seated, until

ASKED = Verdict("ask", "mode", "No rule allows this command.", parts=(("curl x.org", "ask", "reaches the network"),))


def command(text: str, risk: Risk = Risk.MEDIUM, always: str = "for make *") -> AskPermission:
    effect = Effect("bash", text, "Run a command", risk, Shell(text), cwd="/p")
    return AskPermission("1", effect, ASKED, {"command": text}, always, ("Bash(make *)",))


def edit() -> AskPermission:
    diff = Diff("a.py", (Hunk(3, 3, ("-x = 1", "+x = 2")),), 1, 1)
    effect = Effect("edit", "a.py", "Edit a.py", Risk.MEDIUM, diff, (Touch("/etc/x", "write", "outside"),))
    given = {"file_path": "a.py", "edits": [{"old_string": "x = 1", "new_string": "x = 2"}]}
    return AskPermission("1", effect, Verdict("ask", "mode", "Edits are asked for."), given, "edits in this session")


class Asking:
    """One question, being asked."""

    def __init__(self, app: Codeagent, pilot: Any, worker: Worker[Answer]) -> None:
        self.app, self.pilot, self.worker = app, pilot, worker

    @property
    def text(self) -> str:
        return screen_text(self.app)

    async def answered(self) -> Answer:
        await until(self.pilot, lambda: self.worker.is_finished)
        assert self.worker.result is not None
        return self.worker.result

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


async def arm(app: Codeagent, pilot: Any) -> None:
    """Let the typing guard's time pass."""
    await until(pilot, lambda: isinstance(app.screen, Dialog) and app.screen.guard.until < inf)
    app.screen.guard.until = 0.0
    await pilot.pause()


@asynccontextmanager
async def asking(question: Question, size: tuple[int, int] = (90, 30), armed: bool = True) -> AsyncIterator[Asking]:
    """The dialog of a question on the screen, by default already armed."""
    app = seated()
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.talk.desk)
        worker = app.run_worker(app.bridge.ask(question), exit_on_error=False)
        await until(pilot, lambda: isinstance(app.screen, Dialog))
        if armed:
            await arm(app, pilot)
        yield Asking(app, pilot, worker)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("1",), Answer("yes")),
        (("2",), Answer("always")),
        (("enter",), Answer("yes")),
        (("down", "enter"), Answer("always")),
        (("3", "enter"), Answer("no")),
        (("3", *"why", "enter"), Answer("no", "why")),
        (("escape",), Answer("no")),
        (("tab", *"1 mind", "enter"), Answer("yes", "1 mind")),
        (("tab", *"x", "escape", "1"), Answer("yes", "x")),
    ],
)
async def test_answers(keys: tuple[str, ...], answer: Answer) -> None:
    async with asking(command("make")) as dialog:
        await dialog.press(*keys)
        assert await dialog.answered() == answer
        assert dialog.app.composer.has_focus


async def test_no_letter_grants_anything() -> None:
    async with asking(command("make")) as dialog:
        await dialog.press(*"yYaApPoO", "space", "4", "9")
        assert not dialog.worker.is_finished


async def test_for_high_risk_the_highlight_stands_on_no() -> None:
    async with asking(command("rm -r build", Risk.HIGH)) as dialog:
        assert "high risk" in dialog.text
        await dialog.press("enter", "enter")
        assert (await dialog.answered()).verdict == "no"


async def test_keys_of_someone_who_was_typing_go_to_the_draft() -> None:
    async with asking(command("make"), armed=False) as dialog:
        await dialog.press(*"1", "enter", *"2 more")
        assert not dialog.worker.is_finished
        assert dialog.app.composer.text == "12 more"
        await dialog.press("escape")
        assert await dialog.answered() == Answer("no")


async def test_a_command_is_shown_whole_with_invisible_characters_escaped() -> None:
    async with asking(command("echo a\u200bb && make \u202e" + "x" * 100 + " END")) as dialog:
        assert "echo a\\u200bb && make" in dialog.text
        assert "\\u202exxx" in dialog.text
        assert "END" in dialog.text
        assert "in /p" in dialog.text
        assert "for make *" in dialog.text


async def test_a_command_must_be_read_to_its_end() -> None:
    text = "\n".join(f"echo {i}" for i in range(60))
    async with asking(command(text)) as dialog:
        await dialog.press("1")
        assert not dialog.worker.is_finished
        assert "read it to its end first" in dialog.text
        await dialog.press("end", "1")
        assert await dialog.answered() == Answer("yes")


async def test_why_it_was_asked() -> None:
    async with asking(command("curl x.org")) as dialog:
        await dialog.press("w")
        await until(dialog.pilot, lambda: "reaches the network" in dialog.text)
        assert "No rule allows this command." in dialog.text


async def test_an_edit_shows_its_diff_and_what_lies_outside() -> None:
    async with asking(edit()) as dialog:
        assert "+ x = 2" in dialog.text
        assert "writes /etc/x: outside the project" in dialog.text
        assert "medium risk" in dialog.text


async def test_an_edit_can_be_changed_first() -> None:
    async with asking(edit()) as dialog:
        await dialog.press("e")
        dialog.app.screen.query_one("#editor").text = "x = 3"
        await dialog.press("ctrl+s")
        await until(dialog.pilot, lambda: "Yes, as you changed it" in dialog.text)
        await dialog.press("1")
        answer = await dialog.answered()
    assert answer.input == {"file_path": "a.py", "edits": [{"old_string": "x = 1", "new_string": "x = 3"}]}


async def test_a_command_can_be_changed_first_and_left_as_it_was() -> None:
    async with asking(command("make")) as dialog:
        await dialog.press("e")
        dialog.app.screen.query_one("#editor").text = "make test"
        await dialog.press("escape", "1")
        assert await dialog.answered() == Answer("yes")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_every_answer_is_on_the_screen(size: tuple[int, int]) -> None:
    async with asking(command("\n".join(f"echo {i}" for i in range(60)), Risk.HIGH), size) as dialog:
        await dialog.pilot.pause()
        assert all(
            words in dialog.text for words in ("Run a command?", "high risk", "1 Yes", "2 Yes, and", "3 No, and")
        )


@pytest.mark.parametrize(("width", "twice"), [(90, False), (40, True)])
async def test_what_yes_would_store_is_told_once_where_its_row_shows_it(width: int, twice: bool) -> None:
    always = "don't ask again in this project for Bash(python3 -m unittest -q)"
    async with asking(command("python3 -m unittest -q", always=always), (width, 30)) as dialog:
        assert ("2 would be:" in dialog.text) is twice


async def test_the_conversation_stays_in_view() -> None:
    async with asking(command("make")) as dialog:
        assert "Say what you want" in dialog.text


async def test_the_last_words_stand_above_the_dialog() -> None:
    app = seated(say("x\n\n" * 40 + "The reason for it.", call("1", "change", answer="a.py")), say("Changed."))
    async with app.run_test(size=(80, 24)) as pilot:
        app.talk.send("change it")
        await until(pilot, lambda: "Look at a.py?" in screen_text(app))
        await until(pilot, lambda: "The reason for it." in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.transcript.region.bottom == app.query_one("#entry").region.y)


async def test_larger() -> None:
    async with asking(command("\n".join(f"echo {i}" for i in range(60)))) as dialog:
        before = dialog.text.count("echo")
        await dialog.press("ctrl+e")
        await until(dialog.pilot, lambda: dialog.text.count("echo") > before)


async def test_several_questions_wait_for_each_other() -> None:
    async with asking(command("make one")) as dialog:
        second = dialog.app.run_worker(dialog.app.bridge.ask(command("make two")), exit_on_error=False)
        await dialog.pilot.pause()
        await dialog.press("1")
        await until(dialog.pilot, lambda: "make two" in dialog.text)
        assert "2 of 2" in dialog.text
        await arm(dialog.app, dialog.pilot)
        await dialog.press("escape")
        await until(dialog.pilot, lambda: second.is_finished)
        assert second.result == Answer("no")


async def test_a_cancelled_question_goes_away() -> None:
    async with asking(command("make")) as dialog:
        dialog.worker.cancel()
        await until(dialog.pilot, lambda: not isinstance(dialog.app.screen, Dialog))
        assert len(dialog.app.screen_stack) == 1


async def test_the_real_gate_asks_and_the_answer_counts() -> None:
    app = seated(say("", call("1", "change", answer="a.py")), say("Changed."))
    async with app.run_test() as pilot:
        app.talk.send("change it")
        await arm(app, pilot)
        await pilot.press("1")
        await until(pilot, lambda: "Changed." in screen_text(app))
    assert any(isinstance(e, ToolFinished) and e.outcome == "done" for e in app.talk.desk.agent.journal.entries)


async def test_ctrl_c_in_a_dialog_stops_the_turn() -> None:
    app = seated(say("", call("1", "change", answer="a.py")))
    async with app.run_test() as pilot:
        app.talk.send("change it")
        await until(pilot, lambda: isinstance(app.screen, Dialog))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.talk.working)
        assert len(app.screen_stack) == 1
    assert isinstance(app.talk.desk.agent.journal.entries[-1], TurnEnded)


@pytest.mark.parametrize(
    ("question", "keys", "answer"),
    [
        (AskUser("1", "Which?", "", (Choice("red"), Choice("blue"))), ("2",), Answer("yes", "blue")),
        (AskUser("1", "Which?", "", (Choice("red"), Choice("blue"))), ("3", *"grey", "enter"), Answer("yes", "grey")),
        (AskUser("1", "Which?", "", (Choice("red"),)), ("escape",), Answer("no")),
        (
            AskUser("1", "Which?", "", (Choice("a"), Choice("b"), Choice("c")), True),
            ("1", "3", "enter"),
            Answer("yes", "a, c"),
        ),
        (AskValve("steps", "Stopped after 40 steps.", 40, 80), ("1",), Answer("yes")),
        (AskValve("steps", "Stopped after 40 steps.", 40, 80), ("escape",), Answer("no")),
    ],
)
async def test_other_questions(question: Question, keys: tuple[str, ...], answer: Answer) -> None:
    async with asking(question) as dialog:
        await dialog.press(*keys)
        assert await dialog.answered() == answer


async def test_a_question_without_choices_takes_words_once_it_is_armed() -> None:
    async with asking(AskUser("1", "What name?"), armed=False) as dialog:
        await dialog.press("x", "enter")
        assert dialog.app.composer.text == "x"
        await until(dialog.pilot, lambda: dialog.app.screen.has_class("-words"))
        await dialog.press(*"Ada", "enter")
        assert await dialog.answered() == Answer("yes", "Ada")


PLAN = AskPlan("1. Read a.py\n2. Change it\n3. Run the tests \u202e\x1b[2J")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("1",), Answer("always")),
        (("2",), Answer("yes")),
        (("enter",), Answer("yes")),
        (("3", *"less", "enter"), Answer("no", "less")),
        (("escape",), Answer("no")),
        (("tab", *"mind b", "enter"), Answer("yes", "mind b")),
    ],
)
async def test_a_plan_is_approved_or_sent_back(keys: tuple[str, ...], answer: Answer) -> None:
    async with asking(PLAN) as dialog:
        assert "Go ahead with this plan?" in dialog.text
        assert "Run the tests \\u202e\\x1b[2J" in dialog.text
        await dialog.press(*keys)
        assert await dialog.answered() == answer


async def test_a_plan_can_be_edited_first() -> None:
    async with asking(AskPlan("1. Read")) as dialog:
        await dialog.press("e", "end", *" a.py", "ctrl+s", "1")
        assert await dialog.answered() == Answer("always", input={"plan": "1. Read a.py"})


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_long_plan_fits_the_screen(size: tuple[int, int]) -> None:
    async with asking(AskPlan("\n".join(f"{n}. step" for n in range(60))), size) as dialog:
        assert "Keep planning" in dialog.text
        await dialog.press("3", "enter")
        assert (await dialog.answered()).verdict == "no"


async def test_why_says_what_would_change_it() -> None:
    question = command("make")
    told = replace(question, verdict=replace(question.verdict, ways=("The mode bypass.",)))
    async with asking(told) as dialog:
        await dialog.press("w")
        assert "What would change it:" in dialog.text
        assert "- The mode bypass." in dialog.text
        await dialog.press("escape", "escape")
        await dialog.answered()


@pytest.mark.parametrize("opened", [("w",), ("ctrl+e",), ("question_mark",), ("w", "ctrl+e"), ("tab",), ("e",)])
async def test_esc_closes_what_was_opened_before_it_is_a_no(opened: tuple[str, ...]) -> None:
    async with asking(command("make")) as dialog:
        assert "esc no" in dialog.text
        await dialog.press(*opened)
        for _ in opened:
            assert "esc no" not in dialog.text
            await dialog.press("escape")
        assert not dialog.worker.is_finished
        assert "esc no" in dialog.text
        await dialog.press("escape")
        assert await dialog.answered() == Answer("no")


async def test_a_question_mark_tells_the_keys() -> None:
    async with asking(command("make")) as dialog:
        await dialog.press("question_mark")
        assert "adds words to the answer" in dialog.text
        await dialog.press("question_mark")
        assert "adds words to the answer" not in dialog.text


async def test_the_context_page_shows_grid_and_bill() -> None:
    app = seated(say("", call("1", answer="x" * 400)), say("done"))
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.send("go")
        await until(pilot, lambda: "done" in screen_text(app))
        app.page("/context")
        await until(pilot, lambda: "tool results" in screen_text(app))
        shown = screen_text(app)
        assert "■" in shown
        assert "of 200,000 tokens" in shown
        await pilot.press("escape")
        await until(pilot, lambda: "tool results:" not in screen_text(app))


async def test_a_summary_can_be_rewritten_before_it_counts() -> None:
    async with asking(AskSummary("1. Goal: the cart.", "From 9,000 tokens to 2,000.")) as asked:
        assert "the cart" in asked.text
        await asked.pilot.press("2")
        editor = asked.app.screen.query_one("#editor", TextArea)
        await until(asked.pilot, lambda: editor.has_focus)
        editor.text = "My own words."
        await asked.pilot.press("ctrl+s")
        await until(asked.pilot, lambda: "as you changed it" in asked.text)
        await asked.pilot.press("1")
        assert await asked.answered() == Answer("yes", "My own words.")


async def test_two_keys_in_haste_are_one_answer() -> None:
    async with asking(command("make")) as asked:
        for key, character in (("1", "1"), ("enter", "\r"), ("1", "1")):
            asked.app.screen.post_message(events.Key(key, character))
        assert await asked.answered() == Answer("yes")
        await until(asked.pilot, lambda: len(asked.app.screen_stack) == 1)
        assert asked.app.is_running
