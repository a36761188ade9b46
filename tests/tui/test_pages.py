"""The pages that commands open, by keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codeagent.core.listed import ListedJob
from codeagent.fronts.tui.keys import PAGES as KNOWN
from codeagent.fronts.tui.palette import LIGHT, PALETTES
from codeagent.fronts.tui.screens.pages import PAGES
from codeagent.fronts.tui.screens.report import Report
from codeagent.setting_keys import THEMES
from tests.core.stage import say
from tests.e2e.test_slash_commands import PROMISED
from tests.tui.desk import screen_text, seated, until

SIZES = ((120, 36), (80, 24), (40, 12))
JOBS = (ListedJob("job1", "python -m http.server", 12.0, None, False, "/tmp/x"),)
MARKS = {
    "/resume": "fix the cart total",
    "/continue": "fix the cart total",
    "/model": "another one",
    "/theme": "dark-safe",
    "/config": "theme",
    "/jobs": "http.server",
    "/cost": "work ",
    "/status": "project",
    "/permissions": "Deny beats",
    "/memory": "rounding",
    "/audit": "decided",
}


async def opened(app: Any, pilot: Any, name: str) -> None:
    await until(pilot, lambda: app.talk.desk)
    app.composer.put(name)
    app.composer.menu.display = False
    await pilot.press("enter")
    await until(pilot, lambda: len(app.screen_stack) == 2)


def test_the_pages_and_themes_that_are_named_are_there() -> None:
    assert set(PAGES) == set(KNOWN)
    assert tuple(PALETTES) == THEMES


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", MARKS)
async def test_each_page_opens_shows_its_matter_and_closes(name: str, size: tuple[int, int]) -> None:
    app = seated(jobs=JOBS)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, name)
        await until(pilot, lambda: MARKS[name] in screen_text(app))
        assert all(len(row) <= size[0] for row in screen_text(app).splitlines())
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.composer.has_focus


async def test_a_theme_is_seen_at_once_taken_back_with_esc_and_kept_with_enter() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/theme")
        await pilot.press("down")
        assert app.palette is LIGHT
        await pilot.press("escape")
        await until(pilot, lambda: app.palette is PALETTES["dark"][0])
        await opened(app, pilot, "/theme")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.palette is LIGHT)
        assert app.talk.desk.kept == ("theme", "light")


async def test_a_setting_is_changed() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/config")
        await pilot.press(*"vim", "enter")
        await until(pilot, lambda: "vim" in screen_text(app) and app.screen.items()[0].label == "true")
        await pilot.press("enter")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.talk.desk.kept == ("vim", True)


async def test_a_setting_without_choices_is_explained_and_written_in_the_draft() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/config")
        await pilot.press(*"maxT", "enter")
        await until(pilot, lambda: app.composer.text == "/config maxTurns ")
        assert "steps in a turn before it asks whether to go on" in screen_text(app)


async def test_a_job_is_read() -> None:
    app = seated(jobs=JOBS)
    async with app.run_test() as pilot:
        await opened(app, pilot, "/jobs")
        await pilot.press("enter")
        await until(pilot, lambda: "Read what it wrote" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Report))
        await until(pilot, lambda: "the output of job1" in screen_text(app))


async def test_each_request_can_be_looked_at() -> None:
    app = seated(say("Hello."))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.send("hi")
        await until(pilot, lambda: "Hello." in screen_text(app) and not app.talk.working)
        await opened(app, pilot, "/inspect")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Report))
        await until(pilot, lambda: "request 1" in screen_text(app))


async def test_every_promised_command_answers_in_the_full_screen(tmp_path: Path) -> None:
    """A page, a word, or another conversation; nothing is unknown and nothing breaks."""
    app = seated(say("Hello."), jobs=JOBS)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.desk.project = tmp_path  # where /export writes
        for name in (*PROMISED[:-1], "/config vim", "/model n", "/permissions bash ls"):
            before = (app.talk.desk.stage, len(app.transcript.page.blocks))
            app.composer.put(name)
            app.composer.menu.display = False
            await pilot.press("enter")
            await until(
                pilot,
                lambda before=before: (
                    len(app.screen_stack) > 1
                    or app.status._hint
                    or before != (app.talk.desk.stage, len(app.transcript.page.blocks))
                ),
            )
            await pilot.pause(0.02)
            words = screen_text(app)
            assert "There is no command" not in words, name
            assert "made a mistake" not in words, name
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
                await pilot.pause(0.01)
            if app.status._hint:
                app.status._clear_hint()
            await until(pilot, lambda: not app.talk.working)
        assert app.composer.vim is not None, "/vim holds at once"
