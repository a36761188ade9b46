"""The front with the real agent behind it, keys in and rows out."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from codeagent.core.errors import CodeagentError, ModelUnavailable, UsageFault
from codeagent.core.events import Asked, AssistantSaid, Compacted, Opened, Retried, TextDelta, TurnEnded, UserSaid
from codeagent.core.messages import Text
from codeagent.core.ports import Front
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.screens.trouble import Trouble
from codeagent.fronts.tui.widgets.transcript import DRAWN
from codeagent.options import Options
from tests.core.stage import call, say
from tests.tui.desk import TestDesk, screen_text, seated, until

SCROLLBAR = set("▁▂▃▄▅▆▇")
"""Textual's own, at the ends of a scrollbar."""
OPENED = Opened("s", "/p", ("sys",), (), "m", 1000)


def hanging() -> AssistantSaid:
    """A reply that streams its words and then never ends."""
    return say("I am thinking about it.", stop="interrupted")


async def paste(app: Codeagent, text: str) -> None:
    app.composer.post_message(events.Paste(text))


async def test_a_message_is_answered() -> None:
    app = seated(say("It is **done**."))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"fix it", "enter")
        await until(pilot, lambda: "It is done." in screen_text(app))
        assert " › fix it" in screen_text(app)
        assert app.composer.text == ""
        await until(pilot, lambda: "$0.01" in screen_text(app))
        assert "default  m  main" in screen_text(app)


async def test_a_prompt_from_the_command_line_is_said() -> None:
    app = seated(say("Hello."), options=Options(prompt="hi"))
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Hello." in screen_text(app))


async def test_what_is_sent_before_the_session_is_open_is_not_lost() -> None:
    app = seated(say("Here."))
    async with app.run_test() as pilot:
        app.talk.send("early")
        await until(pilot, lambda: "Here." in screen_text(app))


async def test_a_resumed_session_is_drawn() -> None:
    entries = [OPENED, UserSaid((Text("old question"),)), AssistantSaid((Text("old answer"),)), TurnEnded("done")]
    app = seated(entries=entries)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "old answer" in screen_text(app))
        assert "old question" in screen_text(app)


async def test_esc_stops_the_turn() -> None:
    app = seated(hanging())
    async with app.run_test() as pilot:
        app.talk.send("go")
        await until(pilot, lambda: "thinking about it" in screen_text(app))
        assert "esc stop" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "Interrupted." in screen_text(app))
        await until(pilot, lambda: "? keys" in screen_text(app))


async def test_a_message_while_it_works_waits_and_can_be_taken_back() -> None:
    app = seated(hanging())
    async with app.run_test(size=(90, 24)) as pilot:
        app.talk.send("go")
        await until(pilot, lambda: "thinking about it" in screen_text(app))
        await pilot.press(*"also", "enter")
        await until(pilot, lambda: "also   after this step" in screen_text(app))
        await pilot.press("up")
        await until(pilot, lambda: app.composer.text == "also")
        assert "after this step" not in screen_text(app)


async def test_after_an_interruption_the_waiting_message_is_said() -> None:
    app = seated(hanging(), say("Other work."))
    async with app.run_test() as pilot:
        app.talk.send("go")
        await until(pilot, lambda: "thinking about it" in screen_text(app))
        app.talk.send("do this instead")
        await pilot.press("escape")
        await until(pilot, lambda: "Other work." in screen_text(app))


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter", "shift+\r"])
async def test_keys_that_make_a_new_line_do_not_send(key: str) -> None:
    app = seated()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        assert app.composer.text == "a\nb"


async def test_a_backslash_before_enter_is_a_new_line() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await pilot.press("a", "\\", "enter", "b")
        assert app.composer.text == "a\nb"


async def test_the_composer_grows_to_ten_rows() -> None:
    app = seated()
    async with app.run_test(size=(80, 30)) as pilot:
        app.composer.put("\n".join("x" * 20))
        await pilot.pause()
        assert app.composer.size.height == 10


async def test_arrows_bring_back_what_was_said(tmp_path: Path) -> None:
    app = seated(say("one"), say("two"), history=tmp_path / "h")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        for text in ("first", "second"):
            app.composer.put(text)
            await pilot.press("enter")
        await pilot.press("up", "up")
        assert app.composer.text == "first"
        await pilot.press("down", "down")
        assert app.composer.text == ""
    assert (tmp_path / "h").read_bytes() == b'"first"\n"second"\n'


async def test_a_long_paste_is_a_token_that_goes_as_one_and_is_sent_whole() -> None:
    app = seated(say("Read."))
    long = "\n".join(f"line {i}" for i in range(40))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await paste(app, long)
        await until(pilot, lambda: app.composer.text == "[Pasted #1 +40 lines]")
        await pilot.press("backspace")
        assert app.composer.text == ""
        await paste(app, long)
        await until(pilot, lambda: app.composer.text == "[Pasted #2 +40 lines]")
        await pilot.press("enter")
        await until(pilot, lambda: "Read." in screen_text(app))
        said = [e for e in app.talk.desk.agent.journal.entries if isinstance(e, UserSaid)]
        assert said[0].text == long


async def test_commands_are_completed_and_run() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press(*"/ren")
        await until(pilot, lambda: "/rename" in screen_text(app))
        await pilot.press("tab", *"cart", "enter")
        await until(pilot, lambda: app.talk.desk.agent.title == "cart")


async def test_an_unknown_command_is_not_sent_to_the_model() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.composer.put("/hepl")
        await pilot.press("enter")
        await until(pilot, lambda: "Did you mean /help?" in screen_text(app))


async def test_a_command_typed_in_a_hurry_is_the_one_that_runs() -> None:
    app = seated()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("/")
        await until(pilot, lambda: "/clear" in screen_text(app))
        for char in "todo":
            app.composer.post_message(events.Key(char, char))
        app.composer.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: "The todo list is empty." in screen_text(app))


async def test_files_are_completed() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press(*"see @cart")
        await until(pilot, lambda: "shop/cart.py" in screen_text(app))
        await pilot.press("enter")
        assert app.composer.text == "see @shop/cart.py "


async def test_shift_tab_cycles_the_mode() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("shift+tab")
        await until(pilot, lambda: "acceptEdits" in screen_text(app))


async def test_esc_twice_clears_and_up_brings_it_back() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await pilot.press(*"abc", "escape", "escape")
        assert app.composer.text == ""
        await pilot.press("up")
        assert app.composer.text == "abc"


async def test_ctrl_c_clears_then_leaves() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await pilot.press(*"abc", "ctrl+c")
        assert app.composer.text == ""
        await pilot.press("ctrl+c")
        assert "ctrl+c again leaves" in screen_text(app)
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_value == 0


async def test_leaving_ends_the_turn_properly() -> None:
    app = seated(hanging())
    async with app.run_test() as pilot:
        app.talk.send("go")
        await until(pilot, lambda: "thinking about it" in screen_text(app))
        app.leave(143)
        await until(pilot, lambda: app.return_value == 143)
    entries = app.talk.desk.agent.journal.entries
    assert isinstance(entries[-1], TurnEnded)
    assert entries[-1].why == "interrupted"


async def test_scrolling_up_lets_go_and_new_rows_are_counted() -> None:
    app = seated(entries=[OPENED, *[UserSaid((Text(f"message {i}"),)) for i in range(60)]])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "message 59" in screen_text(app))
        await pilot.press("pageup")
        await until(pilot, lambda: not app.transcript.follow)
        top = screen_text(app).splitlines()[0]
        app.tell("something new")
        await until(pilot, lambda: "new lines   End" in screen_text(app))
        assert screen_text(app).splitlines()[0] == top
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "something new" in screen_text(app))
        assert app.transcript.follow


async def test_only_what_is_near_the_screen_is_drawn() -> None:
    app = seated(entries=[OPENED, *[UserSaid((Text(f"message {i}"),)) for i in range(5000)]])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "message 4999" in screen_text(app))
        assert len(app.transcript.page) < 100
        for _ in range(8):
            await pilot.press("pageup")
        assert "message 49" in screen_text(app)
        assert len(app.transcript.page) < 400


async def test_a_very_long_reply_keeps_few_rows_and_loses_none() -> None:
    app = seated(entries=[OPENED, UserSaid((Text("old question"),))])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "old question" in screen_text(app))
        transcript = app.transcript
        for number in range(1500):
            transcript.see(TextDelta(f"word {number}\n\n"))
            if number % 100 == 99:
                transcript.flush()
        assert transcript.page.total <= 2 * DRAWN
        await until(pilot, lambda: "word 1499" in screen_text(app))
        transcript.action_top()
        await until(pilot, lambda: "old question" in screen_text(app) and "word 0 " in screen_text(app))


async def test_a_long_reply_that_is_void_makes_room_for_what_was_before() -> None:
    app = seated(entries=[OPENED, UserSaid((Text("old question"),))])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "old question" in screen_text(app))
        transcript = app.transcript
        transcript.see(Asked(1, "m", "d", "s", "t", 1, 100))
        transcript.see(TextDelta("".join(f"word {number}\n\n" for number in range(1500))))
        transcript.flush()
        assert "old question" not in screen_text(app)
        transcript.see(Retried(2, 3, 0.0, "busy", "overloaded", 529))
        await until(pilot, lambda: "old question" in screen_text(app) and "word" not in screen_text(app))


async def test_another_width_wraps_again_and_keeps_the_place() -> None:
    words = " ".join(f"word{i}" for i in range(60))
    app = seated(entries=[OPENED, *[AssistantSaid((Text(f"part{i} {words}"),)) for i in range(40)]])
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: "part39" in screen_text(app))
        await pilot.press("pageup", "pageup")
        first = next(row.split()[0] for row in screen_text(app).splitlines() if "part" in row)
        await pilot.resize_terminal(50, 24)
        await until(pilot, lambda: app.transcript.page.painter.width < 60)
        assert any(first in row or int(first[4:]) > 0 for row in screen_text(app).splitlines())
        assert all(len(row) <= 50 for row in screen_text(app).splitlines())


async def test_calls_unfold_by_key_and_click() -> None:
    from codeagent.core.events import ToolFinished
    from codeagent.core.messages import ToolUse
    from codeagent.core.views import Plain

    use = AssistantSaid((ToolUse("1", "read", {"path": "a"}),))
    app = seated(entries=[OPENED, use, ToolFinished("1", "read", (), view=Plain("the inside"))])
    async with app.run_test() as pilot:
        await until(pilot, lambda: "▸ read" in screen_text(app))
        await pilot.press("tab", "up")
        grounds = {segment.style.bgcolor.name for segment in app.transcript.render_line(0) if segment.style}
        assert grounds == {app.palette.chosen}
        await pilot.press("enter")
        await until(pilot, lambda: "the inside" in screen_text(app))
        await pilot.click(app.transcript, offset=(5, 0))
        await until(pilot, lambda: "the inside" not in screen_text(app))
        await pilot.press("x")
        assert app.composer.has_focus
        assert app.composer.text == "x"
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "the inside" in screen_text(app))


async def test_rows_are_selected_and_copied_with_the_mouse() -> None:
    app = seated(entries=[OPENED, AssistantSaid((Text("first line\n\nsecond line"),))])
    async with app.run_test() as pilot:
        await until(pilot, lambda: "second line" in screen_text(app))
        await pilot.mouse_down(app.transcript, offset=(3, 0))
        await pilot.hover(app.transcript, offset=(8, 2))
        await pilot.mouse_up(app.transcript, offset=(8, 2))
        await until(pilot, lambda: app.clipboard)
    assert app.clipboard == "first line\n\nsecond"


async def test_a_light_theme_from_the_settings() -> None:
    app = seated(theme="light")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.styles.background.hex.lower() == "#fbfaf7")


@pytest.mark.parametrize(("size", "rows"), [((40, 12), 1), ((80, 24), 3)])
async def test_small_screens_keep_the_conversation(size: tuple[int, int], rows: int) -> None:
    app = seated(entries=[OPENED, *[UserSaid((Text(f"message {i}"),)) for i in range(20)]])
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "message 19" in screen_text(app))
        app.composer.put("a\nb\nc")
        await pilot.pause()
        assert app.composer.size.height == rows
        assert app.transcript.size.height >= 8


async def test_a_terminal_without_unicode_gets_ascii() -> None:
    words = "- a\n- b\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    app = seated(say(words), options=Options(ascii=True, prompt="go"))
    async with app.run_test(size=(80, 30)) as pilot:
        await until(pilot, lambda: "quoted" in screen_text(app))
        await pilot.press("/")
        await until(pilot, lambda: "/clear" in screen_text(app))
        assert {char for char in screen_text(app) if not char.isascii()} <= SCROLLBAR
        await pilot.press("backspace", "?")
        await until(pilot, lambda: "Keys and commands" in screen_text(app))
        assert {char for char in screen_text(app) if not char.isascii()} <= SCROLLBAR


async def test_a_screen_that_is_too_small_says_so() -> None:
    app = seated()
    async with app.run_test(size=(30, 5)) as pilot:
        await until(pilot, lambda: "too small" in screen_text(app))


async def test_the_page_of_keys_fills_the_screen() -> None:
    app = seated()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("?")
        await until(pilot, lambda: "Keys and commands" in screen_text(app))
        last = screen_text(app).rstrip().split("\n")[-2]
        assert last.strip(" │"), "a row of the frame is unused"


async def test_help_and_resume_pages() -> None:
    app = seated(others={"two": [OPENED, UserSaid((Text("the other one"),))]})
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("?")
        await until(pilot, lambda: "Keys and commands" in screen_text(app))
        await pilot.press("escape")
        app.composer.put("/resume")
        await pilot.press("enter")
        await until(pilot, lambda: "fix the cart total" in screen_text(app))
        await pilot.press(*"change")
        await until(pilot, lambda: "fix the cart" not in screen_text(app))
        await pilot.press(*(["backspace"] * 6), "enter")
        await until(pilot, lambda: "the other one" in screen_text(app))


class Refusing:
    """A way to connect that refuses with this error until it gets a key or a model."""

    def __init__(self, error: CodeagentError) -> None:
        self.error = error
        self.given: list[tuple[str, str, bool]] = []

    def __call__(self, front: Front, *, key: str, model: str, keep_key: bool) -> TestDesk:
        self.given.append((key, model, keep_key))
        if not key and not model:
            raise self.error
        return TestDesk(front, (), ())


async def test_without_a_key_there_are_three_ways_on() -> None:
    connect = Refusing(ModelUnavailable("Set ANTHROPIC_API_KEY.", category="authentication_failed"))
    app = Codeagent(Options(), connect)
    async with app.run_test(size=(90, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Trouble))
        await until(pilot, lambda: "Set ANTHROPIC_API_KEY." in screen_text(app))
        assert "it holds for this session: no keyring works here" in screen_text(app)
        await pilot.press("1", *"sk 1", "enter")
        await until(pilot, lambda: "characters that no key has" in screen_text(app))
        await pilot.press(*"sk-1")
        assert "sk-1" not in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.talk.desk)
        await until(pilot, lambda: "Say what you want" in screen_text(app))
    assert connect.given == [("", "", False), ("sk-1", "", True)]


async def test_the_stand_in_and_the_tour_are_offered_too() -> None:
    connect = Refusing(ModelUnavailable("No key.", category="authentication_failed"))
    app = Codeagent(Options(), connect)
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, Trouble))
        await pilot.press("2")
        await until(pilot, lambda: app.talk.desk)
        assert connect.given[-1] == ("", "offline", False)
        app.open()
        await until(pilot, lambda: isinstance(app.screen, Trouble))
        await pilot.press("3")
        await until(pilot, lambda: app.return_value == 0)
    assert app.tour


@pytest.mark.parametrize(("error", "code"), [(UsageFault("No such session."), 2), (ModelUnavailable("Gone."), 5)])
async def test_leaving_after_trouble_tells_the_exit_code(error: CodeagentError, code: int) -> None:
    app = Codeagent(Options(), Refusing(error))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, Trouble))
        await pilot.press("escape")
        await until(pilot, lambda: app.return_value == code)


async def test_esc_stops_a_summing_up_and_what_was_typed_meanwhile_is_said_then() -> None:
    steps = [say("", call(str(n), answer=f"{n}" * 40)) for n in range(6)]
    app = seated(*steps, say("done"), say("half a summ", stop="interrupted"), say("and now this is done"))
    async with app.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.send("go")
        await until(pilot, lambda: "done" in screen_text(app) and not app.talk.working)
        app.talk.send("/compact keep it short")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        await pilot.pause(1.2)
        await pilot.press("1")
        await until(pilot, lambda: app.talk.desk.stage.model.hang.is_set())
        assert app.talk.working
        app.talk.send("then this")
        await pilot.press("escape")
        await until(pilot, lambda: "and now this is done" in screen_text(app))
        assert app.talk.desk.stage.of(Compacted) == []
