"""The full screen as a real program against a real server: every way out leaves a whole log and a whole terminal."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import alive, results, said, until
from tests.loopback import Loopback, call, say

pytestmark = pytest.mark.pty

WAITING = say("I wait for it.") + call("bash", command="echo once >>ran; echo $$ >pid; exec sleep 300")
MODES = ("--permission-mode", "bypass")
RESTORED = b"\x1b[?1049l"


@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP", "SIGKILL", "hang up"])
def test_an_end_while_a_command_runs_loses_nothing(how: str, program: Open, shop: Path) -> None:
    with Loopback([WAITING, say("Here again.")]) as server:
        made = program(server)
        with made.terminal(*MODES, "do it") as terminal:
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            if how == "hang up":
                terminal.hang_up()
                code = terminal.process.wait(10)
            else:
                terminal.process.send_signal(signal.Signals[how])
                code = terminal.wait()
                if how != "SIGKILL":
                    assert RESTORED in terminal.raw
                    assert terminal.modes == terminal.before
            assert code == {"SIGTERM": 143, "SIGKILL": -9}.get(how, 129)
        if how != "SIGKILL":
            assert not alive(int((shop / "pid").read_text()))
            assert made.of("turn_ended")[0]["why"] == "interrupted"
        again = made.headless("go on", "-c")
        assert again.code == 0, again.err
        assert not alive(int((shop / "pid").read_text()))
    ((answer, is_error),) = results(server.bodies[1])
    assert is_error
    assert "outcome of this call is unknown" in answer
    assert "do it" in said(server.bodies[1])
    assert (shop / "ran").read_text() == "once\n"
    assert not server.requests[1].problems


def test_ctrl_c_interrupts_and_the_same_session_goes_on(program: Open, shop: Path) -> None:
    with Loopback([WAITING, say("Understood, I stop there.")]) as server:
        made = program(server)
        with made.terminal(*MODES, "do it") as terminal:
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            terminal.type("\x03")
            until(lambda: not alive(int((shop / "pid").read_text())), "the end of the command", 4)
            until(lambda: made.of("turn_ended"), "the end of the turn")
            terminal.type("stop there\r")
            terminal.wait_for("Understood")
            until(lambda: len(made.of("turn_ended")) == 2, "the end of the second turn")
            terminal.type("\x04\x04")
            assert terminal.wait() == 0
            assert terminal.modes == terminal.before
    assert "interrupted" in said(server.bodies[1])
    assert not server.requests[1].problems
