"""In a real terminal: keys as bytes, modes, signals, the way out."""

from __future__ import annotations

import fcntl
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.pty_terminal import Terminal

pytestmark = pytest.mark.pty
PLAY = [sys.executable, "-m", "tests.tui.play"]


def test_what_is_typed_before_the_screen_stands_is_kept(program_env: dict[str, str]) -> None:
    with Terminal(PLAY, env=program_env) as terminal:
        terminal.write("early")
        terminal.until(" › early")


@pytest.mark.parametrize(
    "newline", ["\x1b\r", "\n", "\x1b[13;2u", "\x1b[27;2;13~"], ids=["ESC CR", "LF", "kitty", "modifyOtherKeys"]
)
def test_new_line_keys_do_not_send(program_env: dict[str, str], newline: str) -> None:
    with Terminal(PLAY, env=program_env) as terminal:
        terminal.until("? keys")
        terminal.write(f"one{newline}two")
        terminal.until(" › one\n   two")
        terminal.write("\r")
        terminal.until("That is all.")


def test_a_broken_mouse_report_is_not_typed(program_env: dict[str, str]) -> None:
    with Terminal(PLAY, env=program_env) as terminal:
        terminal.until("? keys")
        terminal.write("a\x1b[<32;NaN;NaNMb")
        terminal.until(" › ab")


def test_leaving_restores_the_terminal_and_tells_the_way_back(program_env: dict[str, str]) -> None:
    with Terminal([*PLAY, "prompt=hello"], env=program_env) as terminal:
        terminal.until("That is all.")
        terminal.write("\x11")
        assert terminal.wait() == 0
        assert terminal.modes == set()
        after = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
        assert " › hello" in after
        assert "To go on: codeagent --resume s" in after


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)], ids=["TERM", "HUP", "INT"]
)
def test_signals_restore_the_terminal(program_env: dict[str, str], number: int, code: int) -> None:
    with Terminal([*PLAY, "tokens=100000", "prompt=go"], env=program_env) as terminal:
        terminal.until("discount")
        terminal.signal(number)
        assert terminal.wait() == code
        assert terminal.modes == set()


def test_suspending_gives_the_terminal_back_and_going_on_takes_it(program_env: dict[str, str]) -> None:
    with Terminal(PLAY, env=program_env) as terminal:
        terminal.until("? keys")
        terminal.write("before\x1a")
        terminal.until_stopped()
        assert terminal.modes == set()
        terminal.signal(signal.SIGCONT)
        terminal.until(lambda: "paste" in terminal.modes)
        terminal.write(" after")
        terminal.until(" › before after")


def test_a_fault_of_our_own_ends_it_in_short_words(program_env: dict[str, str]) -> None:
    with Terminal([*PLAY, "fault"], env=program_env) as terminal:
        assert terminal.wait() == 1
        assert terminal.modes == set()
        assert b"fault of its own: RuntimeError('the roof is gone')" in terminal.raw
        assert b"Traceback" not in terminal.raw


def test_a_fault_while_opening_is_told_on_the_screen(program_env: dict[str, str]) -> None:
    with Terminal([*PLAY, "crash"], env=program_env) as terminal:
        terminal.until("The session is kept")
        terminal.write("\x11")
        assert terminal.wait() == 0
        assert terminal.modes == set()


def test_nobody_can_answer_a_question_by_accident(program_env: dict[str, str]) -> None:
    with Terminal([*PLAY, "ask", "prompt=go"], env=program_env) as terminal:
        terminal.until("Look at shop/cart.py?")
        terminal.write("\r")
        terminal.until("1 Yes")
        assert "Changed." not in terminal.text
        terminal.write("\x1b")
        terminal.until("you said no")


def test_the_start_imports_nothing_heavy() -> None:
    heavy = ["anthropic", "httpx2", "pydantic", "pathspec", "rich.markdown", "markdown_it", "pygments", "keyring"]
    code = f"import sys, codeagent.fronts.tui.app; print([m for m in {heavy} if m in sys.modules])"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("suspended", [False, True], ids=["", "after Ctrl+Z and fg"])
def test_a_storm_of_sizes_ends_in_the_last_one(program_env: dict[str, str], suspended: bool) -> None:
    sizes = [(1, 1), (5, 20), (200, 500), (24, 90), (6, 20), (50, 3)]
    with Terminal([*PLAY, "tokens=20000", "prompt=go"], env=program_env, patience=60) as terminal:
        terminal.until("discount")
        if suspended:
            terminal.write("\x1a")
            terminal.until_stopped()
            terminal.signal(signal.SIGCONT)
            terminal.until(lambda: "paste" in terminal.modes)
        for storm in range(5):
            for number in range(200):
                rows, columns = sizes[number % len(sizes)]
                fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
            terminal.write(f"{storm}.")
            terminal.until(" › " + "".join(f"{n}." for n in range(storm + 1)))
        terminal.write("\x11")
        assert terminal.wait() == 0
        assert terminal.modes == set()


def test_an_old_session_stands_there_before_it_is_ready(program_env: dict[str, str], tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    with Terminal([*PLAY, "history=8", f"until={ready}"], env=program_env, rows=40) as terminal:
        terminal.until("› question 3")
        terminal.write("\x1b[5~")  # it can be read meanwhile
        terminal.until("› question 2")
        terminal.write("go on\r")
        terminal.write("more")
        terminal.until(" › more")
        assert "That is all." not in terminal.text
        ready.touch()
        terminal.until("That is all.")
        assert " › go on\n" in terminal.text


def test_an_old_session_stands_behind_the_words_that_it_cannot_be_opened(program_env: dict[str, str]) -> None:
    with Terminal([*PLAY, "history=8", "wet"], env=program_env, rows=40) as terminal:
        terminal.until("The floor is wet.")
        assert "That is all." not in terminal.text
        assert "the other trusts it" in terminal.text
        assert "paste the key" not in terminal.text
        terminal.write("\x1b")
        assert terminal.wait() == 2
        assert terminal.modes == set()
