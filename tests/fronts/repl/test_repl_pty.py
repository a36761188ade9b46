"""The plain front as a real program in a pseudo-terminal."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.fronts.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.pty


@pytest.fixture
def shop(project: Path) -> Path:
    """A project with something to read."""
    (project / "README.md").write_text("# A shop\n")
    (project / ".agent").mkdir()
    return project


def started(env: Mapping[str, str], cwd: Path, *argv: str, term: str = "xterm-256color") -> PseudoTerminal:
    command = [sys.executable, "-m", "codeagent", "--plain", "--model", "offline", *argv]
    return PseudoTerminal(command, env={**env, "TERM": term}, cwd=cwd)


@pytest.fixture
def live(program_env: Mapping[str, str], shop: Path) -> Iterator[PseudoTerminal]:
    """The plain front with its line editor, ready for the first message."""
    with started(program_env, shop) as terminal:
        terminal.wait_for("you:")
        yield terminal


def test_a_conversation_with_a_question(live: PseudoTerminal, shop: Path) -> None:
    live.type("run touch made\r")
    at = live.wait_for("answer: ")
    assert "$ touch made" in live.text
    assert not (shop / "made").exists()
    live.type("1\n")
    at = live.wait_for("you:", after=at)
    assert (shop / "made").exists()
    live.type("exit\r")
    assert live.wait() == 0
    assert "codeagent -r " in live.text
    assert live.modes == live.before
    assert b"\x1b[?1049h" not in live.raw, "no alternate screen"
    assert b"\x1b[?1000h" not in live.raw, "no mouse"


def test_esc_enter_and_ctrl_j_make_lines_and_commands_complete(live: PseudoTerminal) -> None:
    live.type("nothing\x1b\rof\x0athe kind\r")
    at = live.wait_for("codeagent:")
    at = live.wait_for("you:", after=at)
    assert "you: nothing\n     of\n     the kind" in live.text.replace("  \n", "\n")
    live.type("/cos\t")
    live.wait_until_shown("you: /cost")
    live.type("\r")
    at = live.wait_for("cached  ", after=at)
    at = live.wait_for("you:", after=at)
    live.type("read @REA\t")
    live.wait_until_shown("you: read @README.md")


def test_ctrl_c_clears_the_line_and_twice_leaves(live: PseudoTerminal) -> None:
    live.type("half a thought")
    at = live.wait_for("thought")
    live.type("\x03\x03")
    at = live.wait_for("Press Ctrl+C again to leave.", after=at)
    live.type("\x03")
    assert live.wait() == 0
    assert live.modes == live.before


def test_ctrl_c_stops_a_turn_and_what_was_typed_meanwhile_is_said_next(live: PseudoTerminal, shop: Path) -> None:
    live.type("run sleep 1718\r")
    at = live.wait_for("bash")
    live.type("and read README.md\n")
    at = live.wait_for("(kept for the next step: and read README.md)", after=at)
    live.type("\x03")
    at = live.wait_for("Interrupted.", after=at)
    at = live.wait_for("you: and read README.md", after=at)
    at = live.wait_for("[default", after=at)
    live.wait_for("you:", after=at)
    live.type("\x04")
    assert live.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_restore_the_terminal(live: PseudoTerminal, number: signal.Signals) -> None:
    live.process.send_signal(number)
    assert live.wait() == 128 + number
    assert live.modes == live.before
    assert b"Traceback" not in live.raw


def test_history_is_kept_for_the_project(live: PseudoTerminal, program_env: Mapping[str, str], shop: Path) -> None:
    live.type("read README.md\r")
    at = live.wait_for("README.md: 1 line")
    live.wait_for("you:", after=at)
    live.type("exit\r")
    assert live.wait() == 0
    with started(program_env, shop) as again:
        again.wait_for("you:")
        again.type("\x1b[A\x1b[A")
        again.wait_until_shown("you: read README.md")
        again.type("\x03\x03\x03")
        assert again.wait() == 0


def test_a_dumb_terminal_gets_not_one_escape_byte(program_env: Mapping[str, str], shop: Path) -> None:
    with started(program_env, shop, term="dumb") as dumb:
        at = dumb.wait_for("you: ")
        dumb.type("run touch made\n")
        at = dumb.wait_for("answer: ", after=at)
        dumb.type("1\n")
        at = dumb.wait_for("you: ", after=at)
        dumb.type("/help\n")
        at = dumb.wait_for("you: ", after=at)
        dumb.type("exit\n")
        assert dumb.wait() == 0
        assert b"\x1b" not in dumb.raw
        assert b"\x9b" not in dumb.raw


def test_no_color_means_none(program_env: Mapping[str, str], shop: Path) -> None:
    with started({**program_env, "NO_COLOR": "1"}, shop, "read README.md") as plain:
        at = plain.wait_for("README.md: 1 line")
        plain.wait_for("you:", after=at)
        assert b"\x1b[3" not in plain.raw[:at]
        assert b"\x1b[2m" not in plain.raw[:at]


def test_a_resumed_session_is_drawn_again(program_env: Mapping[str, str], shop: Path) -> None:
    with started(program_env, shop, "read README.md") as first:
        at = first.wait_for("README.md: 1 line")
        first.wait_for("you:", after=at)
        first.type("exit\r")
        assert first.wait() == 0
    with started(program_env, shop, "-c") as again:
        at = again.wait_for("README.md: 1 line")
        again.wait_for("you:", after=at)
        assert "you: read README.md\n" in again.text
        again.type("\x04")
        assert again.wait() == 0


def test_vims_keys_hold_from_the_setting_and_are_switched_in_the_session(
    program_env: Mapping[str, str], shop: Path
) -> None:
    with started({**program_env, "CODEAGENT_VIM": "1"}, shop) as live:
        at = live.wait_for("you:")
        live.type("xread README.md")
        live.wait_until_shown("you: xread README.md")
        live.type("\x1b0x\r")  # leave writing, to the beginning, take a letter out
        at = live.wait_for("[default", after=at)
        assert "you: read README.md" in live.text
    with started(program_env, shop) as live:
        at = live.wait_for("you:")
        live.type("/vim\r")
        at = live.wait_for("Vim's keys are on", after=at)
        at = live.wait_for("you:", after=at)
        live.type("xread README.md")
        live.wait_until_shown("you: xread README.md")
        live.type("\x1b0x\r")
        live.wait_for("[default", after=at)
        assert "you: read README.md" in live.text
