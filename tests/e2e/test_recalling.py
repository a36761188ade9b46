"""`-r` in the full screen: the old words are there at once, whatever comes then, and nobody else's unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.loopback import Loopback, say

pytestmark = pytest.mark.pty


def test_without_a_key_the_session_stands_behind_the_question(program: Open) -> None:
    with Loopback([say("The answer of old.")]) as server:
        made = program(server)
        assert made.run("-p", "the question of old").code == 0
    keyless = program()
    with keyless.terminal("-r", made.logs[0].stem) as terminal:
        terminal.wait_until_shown("No key for the model yet")
        terminal.wait_until_shown("The answer of old.")
        terminal.type("2")
        terminal.wait_until_shown("offline")
        terminal.wait_until_shown("The answer of old.")
        terminal.type("help\r")
        terminal.wait_until_shown("not a language model")
        assert terminal.text.count("The answer of old.") == 1
        terminal.type("\x11")
        assert terminal.wait() == 0
        assert terminal.modes == terminal.before


def test_a_log_of_another_is_not_drawn_before_the_question(program: Open, tmp_path: Path) -> None:
    with Loopback([say("The answer of old.")]) as server:
        made = program(server)
        assert made.run("-p", "the question of old").code == 0
        elsewhere = {"XDG_STATE_HOME": str(tmp_path / "other")}
        with made.terminal("-r", made.logs[0].stem, **elsewhere) as terminal:
            terminal.wait_until_shown("Trust this directory?")
            assert b"answer of old" not in terminal.raw
            terminal.type("\x1b")
            terminal.wait_until_shown("The answer of old.")
