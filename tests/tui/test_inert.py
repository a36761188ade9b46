"""Text from outside stays text: in the transcript, in dialogs, menus, titles and the status line."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from codeagent.core.errors import UsageFault
from codeagent.fronts.desk import Listed
from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.screens.pick import Pick, session_rows
from codeagent.fronts.tui.screens.trouble import Trouble
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.status import Standing
from tests.hostile import MARKUP, ROWS, SHORT, bad, entries, leaks, questions, text_of
from tests.pty_terminal import Terminal
from tests.tui.desk import screen_text, seated, until

SIZE = (120, 40)
EVERYTHING = " ~ ".join(SHORT)


def drawn(app: Any) -> str:
    """All of the transcript, in view or not, and the rest of the screen."""
    transcript = app.transcript
    rows = [transcript.render_line(0)]
    for y in range(0, transcript.virtual_size.height, max(1, transcript.size.height - 1)):
        transcript.scroll_to(y=y, animate=False, immediate=True)
        rows += [transcript.render_line(line) for line in range(transcript.size.height)]
    return "\n".join("".join(segment.text for segment in row) for row in rows) + screen_text(app)


async def test_the_transcript_is_inert_in_every_kind_of_entry() -> None:
    story = [entry for text in SHORT for entry in entries(text)]
    app = seated(entries=story)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.transcript.story.blocks)
        app.transcript.fold_all(unfold=True)
        await pilot.pause()
        shown = drawn(app)
    assert bad(shown) == ""


@pytest.mark.parametrize("markup", MARKUP)
async def test_no_markup_is_taken_for_markup(markup: str) -> None:
    app = seated(entries=entries(markup))
    async with app.run_test(size=(120, 150)) as pilot:
        await until(pilot, lambda: app.transcript.story.blocks)
        app.transcript.fold_all(unfold=True)
        await pilot.pause()
        assert screen_text(app).count(markup) >= 10


@pytest.mark.parametrize("row", [row for row in ROWS if "gen" in row], ids=lambda row: row["id"])
async def test_large_text_is_drawn_in_bounded_time(row: dict[str, Any]) -> None:
    app = seated(entries=entries(text_of(row))[:6])
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.transcript.story.blocks)
        assert bad(screen_text(app)) == ""


@pytest.mark.parametrize("number", range(len(questions(""))))
async def test_every_question_is_inert(number: int) -> None:
    app = seated()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.talk.desk)
        for text in (EVERYTHING, *MARKUP):
            worker = app.run_worker(app.bridge.ask(questions(text)[number]), exit_on_error=False)
            await until(pilot, lambda: isinstance(app.screen, Dialog))
            await pilot.press("w")
            await pilot.pause()
            assert bad(screen_text(app)) == ""
            if text in MARKUP:
                assert text in screen_text(app)
            worker.cancel()
            await until(pilot, lambda: not isinstance(app.screen, Dialog))


async def test_pickers_errors_and_completion_are_inert() -> None:
    app = seated()
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.talk.desk)
        listed = [Listed(text, text, 1.0, text, turns=1) for text in SHORT]
        rows = [(text, Item(text, text)) for text in SHORT]
        for screen in (
            Pick(EVERYTHING, session_rows(listed), app.stage()),
            Pick(EVERYTHING, rows, app.stage()),
            Trouble(UsageFault(EVERYTHING), app.stage()),
        ):
            await app.push_screen(screen)
            await pilot.pause()
            for _ in range(len(SHORT) // 10):
                assert bad(screen_text(app)) == ""
                if isinstance(screen, Pick):
                    await pilot.press("pagedown")
            app.pop_screen()
        app.status.show(Standing("default", EVERYTHING, EVERYTHING, sandbox=EVERYTHING))
        app.status.hint(MARKUP[0])
        app.composer.files = lambda: tuple(SHORT)
        await pilot.press("@")
        await pilot.pause()
        assert bad(screen_text(app)) == ""


def test_what_must_be_readable_is() -> None:
    """Escaped is fine, swallowed is not."""
    painter = Painter(DARK, UNICODE, 4000)
    painter.measure = 4000
    from codeagent.core.clean import clean

    for row in ROWS:
        if "gen" in row:
            continue
        shown = "\n".join("".join(segment.text for segment in strip) for strip in painter.plain(clean(text_of(row))))
        for piece in row["must_show"]:
            assert all(line.strip() in shown for line in clean(piece).split("\n")), row["id"]


@pytest.mark.pty
def test_no_foreign_byte_reaches_the_terminal(program_env: dict[str, str]) -> None:
    with Terminal([sys.executable, "-m", "tests.tui.play", "hostile"], env=program_env) as terminal:
        terminal.until("? keys")
        for _ in range(12):
            at = len(terminal.raw)
            terminal.write("\x1b[5~")
            terminal.until(lambda at=at: len(terminal.raw) > at)
        terminal.write("\x11")
        assert terminal.wait() == 0
    assert leaks(terminal.raw) == []
