"""What is said outside the screen: title, notices, the person's own status line, the mouse."""

from __future__ import annotations

import sys

import pytest

from codeagent.core.effects import AskValve
from codeagent.core.events import AssistantSaid, Opened
from codeagent.core.messages import Text
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.manners import LONG, Manners
from tests.core.stage import say
from tests.pty_terminal import Terminal
from tests.tui.desk import screen_text, seated, until

OPENED = Opened("s", "/p", ("sys",), (), "m", 1000)


def heard(app: Codeagent) -> list[str]:
    """What the app writes to the terminal from now on, beside the screen."""
    written: list[str] = []
    app.manners = Manners(app, written.append)
    app.bridge._notify = app.manners.ring
    return written


async def test_the_title_names_project_and_session_and_is_given_back() -> None:
    app = seated(say("Done."))
    written = heard(app)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.talk.send("fix the cart")
        await until(pilot, lambda: "\x1b]2;p: fix the cart\x07" in written)
        assert written[0].startswith("\x1b[22;2t")
        assert any(words.startswith("\x1b]2;* p") for words in written)
        app.leave()
        await until(pilot, lambda: written[-1] == "\x1b[23;2t")


@pytest.mark.parametrize(
    ("how", "looking", "wanted"),
    [
        ("auto", False, ["\x1b]9;A question waits for you.\x07\a"]),
        ("bell", False, ["\a"]),
        ("off", False, []),
        ("auto", True, []),
    ],
)
async def test_a_question_is_announced_to_someone_who_looks_elsewhere(
    how: str, looking: bool, wanted: list[str]
) -> None:
    app = seated(settings={"notify": how})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.app_focus = looking
        written = heard(app)
        app.run_worker(app.bridge.ask(AskValve("steps", "Go on?", 10, 20)), exit_on_error=False)
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.pause(0.05)
        assert written == wanted


async def test_only_a_long_turn_is_announced() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.app_focus = False
        written = heard(app)
        app.manners.ended(LONG - 1, "It is done.")
        assert written == []
        app.manners.ended(LONG, "It is done.")
        assert written == ["\x1b]9;It is done.\x07\a"]


async def test_a_status_line_of_ones_own() -> None:
    app = seated(settings={"statusLine": "mine"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: " mine m" in screen_text(app).splitlines()[-1])


async def test_the_caret_is_where_an_input_method_looks_for_it() -> None:
    app = seated(entries=[OPENED, AssistantSaid((Text("hello"),))])
    async with app.run_test() as pilot:
        await until(pilot, lambda: "hello" in screen_text(app))
        assert app.cursor_position == app.composer.cursor_screen_offset
        assert app.cursor_position.y > 10


@pytest.mark.pty
def test_without_mouse_the_terminal_keeps_it(program_env: dict[str, str]) -> None:
    play = [sys.executable, "-m", "tests.tui.play"]
    with Terminal([*play, "no-mouse"], env=program_env) as terminal:
        terminal.until("? keys")
        assert "mouse" not in terminal.modes
    with Terminal(play, env=program_env) as terminal:
        terminal.until("? keys")
        assert "mouse" in terminal.modes
        terminal.write("\x1bm")
        terminal.until(lambda: "mouse" not in terminal.modes)
