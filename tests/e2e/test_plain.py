"""The plain front in a pseudo-terminal, against a real server: questions, answers, Ctrl+C, a dumb terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import alive, results, said, until
from tests.loopback import Loopback, call, say

pytestmark = pytest.mark.pty

FIX = call("edit", file_path="cart.py", old_string="discount / 100", new_string="(100 - discount) / 100")


@pytest.mark.parametrize(("term", "enter"), [("xterm-256color", "\r"), ("dumb", "\n")])
def test_an_edit_is_accepted_and_a_command_refused_with_words(term: str, enter: str, program: Open, shop: Path) -> None:
    replies = [
        call("read", file_path="cart.py"),
        FIX,
        call("bash", command="rm test_cart.py"),
        say("I keep **the test**, then."),
    ]
    with Loopback(replies) as server, program(server).terminal("--plain", TERM=term) as terminal:
        at = terminal.wait_for("you:")
        terminal.type(f"fix it{enter}")
        at = terminal.wait_for("answer: ", after=at)
        for shown in ("discount / 100", "(100 - discount) / 100", "1  ", "2  ", "3  "):
            assert shown in terminal.text
        assert "(100 - " not in (shop / "cart.py").read_text(), "nothing changes before the answer"
        terminal.type("what?\n")
        at = terminal.wait_for("answer: ", after=at)
        terminal.type("1\n")
        at = terminal.wait_for("answer: ", after=at)
        assert "(100 - " in (shop / "cart.py").read_text()
        assert "rm test_cart.py" in terminal.text
        terminal.type("3 the test is right\n")
        at = terminal.wait_for("the test", after=at)
        at = terminal.wait_for("you:", after=at)
        terminal.type(f"exit{enter}")
        assert terminal.wait() == 0
        assert terminal.modes == terminal.before
        escapes = terminal.raw.count(b"\x1b")
        assert (escapes == 0) is (term == "dumb")
    assert (shop / "test_cart.py").exists()
    refusal, is_error = results(server.bodies[3])[-1]
    assert is_error
    assert "the test is right" in refusal
    assert not any(seen.problems for seen in server.requests)


@pytest.mark.parametrize(("term", "enter"), [("xterm-256color", "\r"), ("dumb", "\n")])
def test_ctrl_c_interrupts_and_the_talk_goes_on(term: str, enter: str, program: Open, shop: Path) -> None:
    with (
        Loopback([call("bash", command="echo $$ >pid; exec sleep 300"), say("Fine.")]) as server,
        program(server).terminal("--plain", "--permission-mode", "bypass", TERM=term) as terminal,
    ):
        at = terminal.wait_for("you:")
        terminal.type(f"wait{enter}")
        until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
        terminal.type("\x03")
        at = terminal.wait_for("Interrupted", after=at)
        at = terminal.wait_for("you:", after=at)
        assert not alive(int((shop / "pid").read_text()))
        terminal.type(f"go on{enter}")
        at = terminal.wait_for("Fine.", after=at)
        at = terminal.wait_for("you:", after=at)
        terminal.type(f"/exit{enter}")
        assert terminal.wait() == 0
    assert "interrupted" in said(server.bodies[1])
    assert not server.requests[1].problems


def test_a_terminal_that_is_closed_ends_everything(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="echo $$ >pid; exec sleep 300"), say("Fine.")]) as server:
        made = program(server)
        with made.terminal("--plain", "--permission-mode", "bypass") as terminal:
            terminal.wait_for("you:")
            terminal.type("wait\r")
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            terminal.hang_up()
            assert terminal.process.wait(10) == 129
        assert not alive(int((shop / "pid").read_text()))
        assert made.of("turn_ended")[0]["why"] == "interrupted"
        assert made.run("--plain", "-c").code == 0


def test_a_terminal_that_is_closed_at_the_prompt_ends_the_program(program: Open) -> None:
    with Loopback() as server, program(server).terminal("--plain") as terminal:
        terminal.wait_for("you:")
        terminal.hang_up()
        assert terminal.process.wait(10) in (0, 129)


def test_a_plan_is_changed_in_the_editor_before_it_is_approved(program: Open, shop: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ntest -t 0 && echo "2. Run the tests" >>"$1"\n')
    editor.chmod(0o700)
    replies = [call("present_plan", plan="1. Mend cart.py\n"), say("I begin.")]
    with (
        Loopback(replies) as server,
        program(server).terminal("--plain", "--permission-mode", "plan", EDITOR=str(editor)) as terminal,
    ):
        at = terminal.wait_for("you:")
        terminal.type("plan it\r")
        at = terminal.wait_for("answer: ", after=at)
        terminal.type("e\n")
        at = terminal.wait_for("2. Run the tests", after=at)
        at = terminal.wait_for("answer: ", after=at)
        terminal.type("1 slowly\n")
        at = terminal.wait_for("I begin.", after=at)
        terminal.wait_for("[acceptEdits, ", after=at)
    told, is_error = results(server.bodies[1])[-1]
    assert not is_error
    assert "This one counts:\n\n1. Mend cart.py\n2. Run the tests\n" in told
    assert told.endswith("The user adds: slowly")


@pytest.mark.parametrize(("term", "enter"), [("xterm-256color", "\r"), ("dumb", "\n")])
def test_a_command_of_ones_own_runs_and_is_on_record_as_ones_own(
    term: str, enter: str, program: Open, shop: Path
) -> None:
    with Loopback([say("I see it.")]) as server, program(server).terminal("--plain", TERM=term) as terminal:
        at = terminal.wait_for("you:")
        terminal.type(f"! echo o''wn; cat cart.py{enter}")
        at = terminal.wait_for("| own", after=at)
        at = terminal.wait_for("you:", after=at)
        assert "| def total" in terminal.text
        assert server.bodies == []
        terminal.type(f"what came?{enter}")
        at = terminal.wait_for("I see it.", after=at)
        at = terminal.wait_for("you:", after=at)
        terminal.type(f"?{enter}")
        at = terminal.wait_for("! COMMAND", after=at)
        at = terminal.wait_for("you:", after=at)
        terminal.type(f"exit{enter}")
        assert terminal.wait() == 0
        audited = program(server).run("audit").out
    assert "The user ran this command: echo o''wn; cat cart.py\\nIt gave:\\nown" in json.dumps(server.bodies[0])
    assert "by you: You typed this command." in audited
