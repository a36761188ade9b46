"""`e` in a question: the texts of a call one after the other, then the question about what would come of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.widgets import TextArea

from codeagent.core.events import Saw, ToolFinished
from codeagent.fronts.rewriting import editable, edited, texts
from codeagent.host.files import digest
from tests.core.stage import call, say
from tests.tools.desk import Desk
from tests.tui.desk import screen_text, seated, until
from tests.tui.test_dialogs import Asking, arm

BEFORE = "".join(f"line {n}\n" for n in range(1, 31))
TWO = [{"old_string": "line 3\n", "new_string": "three\n"}, {"old_string": "line 20\n", "new_string": "twenty\n"}]


@asynccontextmanager
async def editing(tmp_path: Path, edits: list[dict[str, str]]) -> AsyncIterator[tuple[Asking, Path, Any]]:
    """A model that wants these edits of a real file, at the question about them."""
    ground = Desk(tmp_path / "p", tmp_path / "home")
    path = ground.put("a.txt", BEFORE)
    ground.workspace.seen.note(Saw(str(path), digest(path.read_bytes())))
    app = seated(say("", call("1", "edit", file_path="a.txt", edits=edits)), say("Done."), tools=[ground.tools["edit"]])
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.send("go")
        await arm(app, pilot)
        yield Asking(app, pilot, app.talk._turn), path, app.talk.desk.agent.journal


def finished(journal: Any) -> ToolFinished:
    return next(e for e in journal.entries if isinstance(e, ToolFinished))


async def write(asked: Asking, text: str) -> None:
    asked.app.screen.query_one(TextArea).text = text
    await asked.press("ctrl+s")


async def test_the_change_is_shown_as_it_would_be_now(tmp_path: Path) -> None:
    async with editing(tmp_path, TWO[:1]) as (asked, path, journal):
        await asked.press("e")
        assert "The new text" in asked.text
        assert "ctrl+s use this" in asked.text
        await write(asked, "mine\n")
        await until(asked.pilot, lambda: "Yes, as you changed it" in asked.text)
        assert "- line 3" in asked.text
        assert "+ mine" in asked.text
        assert "line 4" in asked.text
        assert path.read_text() == BEFORE
        await asked.press("1")
        await until(asked.pilot, lambda: "Done." in screen_text(asked.app))
        assert path.read_text() == BEFORE.replace("line 3\n", "mine\n", 1)
        assert finished(journal).outcome == "done"


async def test_several_edits_are_rewritten_one_after_the_other(tmp_path: Path) -> None:
    async with editing(tmp_path, TWO) as (asked, path, _):
        await asked.press("e")
        assert "The new text, 1 of 2" in asked.text
        assert asked.app.screen.query_one(TextArea).text == "three\n"
        await asked.press("ctrl+s")
        assert "The new text, 2 of 2" in asked.text
        await write(asked, "XX\n")
        await until(asked.pilot, lambda: "+ XX" in asked.text)
        await asked.press("end", "1")
        await until(asked.pilot, lambda: "Done." in screen_text(asked.app))
        assert path.read_text() == BEFORE.replace("line 3\n", "three\n", 1).replace("line 20\n", "XX\n", 1)


async def test_what_cannot_be_done_is_told_and_not_taken(tmp_path: Path) -> None:
    async with editing(tmp_path, TWO[:1]) as (asked, path, _):
        await asked.press("e")
        await write(asked, "line 3\n")
        await until(asked.pilot, lambda: "What you wrote was not taken" in asked.text)
        assert "as you changed it" not in asked.text
        assert "+ three" in asked.text
        await asked.press("1")
        await until(asked.pilot, lambda: "Done." in screen_text(asked.app))
        assert path.read_text() == BEFORE.replace("line 3\n", "three\n", 1)


async def test_esc_leaves_the_call_as_it_was(tmp_path: Path) -> None:
    async with editing(tmp_path, TWO[:1]) as (asked, _, journal):
        await asked.press("e")
        asked.app.screen.query_one(TextArea).text = "mine\n"
        await asked.press("escape")
        assert "+ three" in asked.text
        assert journal.entries[-1].__class__.__name__ == "AssistantSaid"


def test_texts_of_calls() -> None:
    assert texts({"command": "ls"}) == (("command", "ls"),)
    assert texts({"edits": TWO}) == (("edits.0.new_string", "three\n"), ("edits.1.new_string", "twenty\n"))
    assert texts({"pattern": "x"}) == ()
    assert texts({"edits": [3, {"new_string": 3}]}) == ()
    assert editable({"edits": TWO}) is None
    assert edited({"edits": TWO}, "edits.1.new_string", "x") == {"edits": [TWO[0], {**TWO[1], "new_string": "x"}]}
