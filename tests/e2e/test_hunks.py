"""A change that is accepted in part, in the real program: the file, the log, and what the model hears of it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import Program, results, until
from tests.fronts.pseudo_terminal import PseudoTerminal
from tests.loopback import Loopback, call, say

pytestmark = pytest.mark.pty

LINES = [f"line {n}\n" for n in range(1, 31)]
CHANGES = {3: "third\n", 15: "", 28: "line 28\nand a half\n"}
REPLIES = [
    call("read", file_path="notes.txt"),
    call(
        "edit",
        file_path="notes.txt",
        edits=[{"old_string": LINES[n - 1], "new_string": new} for n, new in CHANGES.items()],
    ),
    say("As you like it."),
]
PART = "".join(CHANGES[n] if n in (3, 28) else line for n, line in enumerate(LINES, 1))


def accepted_in_part(made: Program, notes: Path, server: Loopback) -> None:
    """The first and the last of the three hunks were taken."""
    assert notes.read_text() == PART
    (decided,) = [d for d in made.of("decided") if d["tool"] == "edit"]
    assert decided["hunks"] == [0, 2]
    (done,) = [d for d in made.of("tool_finished") if d["tool"] == "edit"]
    assert done["after"] == sha256(PART.encode()).hexdigest()
    assert done["after"][:16] in made.run("audit").out
    told, is_error = results(server.bodies[2])[-1]
    assert not is_error
    assert "took 2 of 3 hunks" in told
    assert "Applied: line 3; line 29. Left out, unchanged there: line 15." in told
    assert "+third" in told
    assert "-line 15" not in told
    assert not any(seen.problems for seen in server.requests)


@pytest.fixture
def notes(shop: Path) -> Path:
    path = shop / "notes.txt"
    path.write_text("".join(LINES))
    return path


def test_in_the_full_screen(program: Open, notes: Path) -> None:
    with Loopback(REPLIES) as server:
        made = program(server)
        with made.terminal("mend the notes") as terminal:
            terminal.wait_until_shown("h hunks")
            until(lambda: _opened(terminal), "the choice among hunks")
            terminal.type("\x1b[B")
            terminal.type(" ")
            terminal.wait_until_shown("Yes, 2 of 3 hunks")
            assert notes.read_text() == "".join(LINES), "nothing changes before the answer"
            terminal.type("1")
            terminal.wait_until_shown("As you like it.")
            terminal.wait_until_shown("+2 -1  2 of 3 hunks")
            until(lambda: made.of("turn_ended"), "the end of the turn")
        accepted_in_part(made, notes, server)


def _opened(terminal: PseudoTerminal) -> bool:
    """Whether `h` shows the hunks; in the dialog's first moments it counts for nothing and makes them longer."""
    terminal.type("h")
    try:
        terminal.wait_until_shown("1 of 3", 2)
    except AssertionError:
        return False
    return True


def test_in_plain_lines(program: Open, notes: Path) -> None:
    with Loopback(REPLIES) as server:
        made = program(server)
        with made.terminal("--plain", TERM="dumb") as terminal:
            at = terminal.wait_for("you:")
            terminal.type("mend the notes\n")
            at = terminal.wait_for("answer: ", after=at)
            terminal.type("h\n")
            at = terminal.wait_for("hunks: ", after=at)
            assert "2 of 3, line 15  +0 -1" in terminal.text
            terminal.type("1 3\n")
            at = terminal.wait_for("As you like it.", after=at)
            assert "+2 -1, 2 of 3 hunks" in terminal.text
            terminal.wait_for("you:", after=at)
            terminal.type("exit\n")
            assert terminal.wait() == 0
        accepted_in_part(made, notes, server)
    again = made.run("replay", made.logs[-1].stem, "--run-tools")
    assert "2 of 2 calls run again; another result: 0." in again.out
