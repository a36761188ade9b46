"""A session comes back in the mode that it was left in, whatever front goes on with it; bypass has to be said again."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import Program
from tests.loopback import Loopback, say

NOTICE = "left in mode bypass"


def left_in(made: Program, mode: str) -> str:
    """The id of a session that was left in this mode."""
    assert made.headless("hello", "--permission-mode", mode).code == 0
    return made.logs[-1].stem


@pytest.mark.parametrize(("mode", "then"), [("plan", "plan"), ("acceptEdits", "acceptEdits"), ("bypass", "default")])
def test_a_headless_run_goes_on_in_the_mode_it_was_left_in(mode: str, then: str, program: Open) -> None:
    with Loopback([say("Hello."), say("Again.")]) as server:
        made = program(server)
        left_in(made, mode)
        again = made.headless("and on", "-c")
    assert f'"permissionMode":"{then}"' in again.out.replace(" ", "")
    assert (NOTICE in again.out + again.err) is (mode == "bypass")


def test_what_the_command_line_says_counts(program: Open) -> None:
    with Loopback([say("Hello."), say("Again.")]) as server:
        made = program(server)
        left_in(made, "plan")
        again = made.headless("and on", "-c", "--permission-mode", "acceptEdits")
    assert '"permissionMode":"acceptEdits"' in again.out.replace(" ", "")


@pytest.mark.pty
@pytest.mark.parametrize(("mode", "then"), [("plan", "plan"), ("bypass", "default")])
@pytest.mark.parametrize("front", ["--plain", "--tui"])
def test_a_person_finds_the_mode_it_was_left_in(front: str, mode: str, then: str, program: Open) -> None:
    with Loopback([say("Hello.")]) as server:
        made = program(server)
        session = left_in(made, mode)
        arguments = ("--plain",) if front == "--plain" else ()
        with made.terminal(*arguments, "-r", session) as terminal:
            terminal.wait_until_shown(f"[{then}, " if front == "--plain" else f" {then}  ")
            if mode == "bypass":
                terminal.wait_until_shown(NOTICE)
            assert (NOTICE in terminal.text) is (mode == "bypass")
    assert [entry["mode"] for entry in made.of("switched")] == (["default"] if mode == "bypass" else [])
