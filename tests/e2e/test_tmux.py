"""The tour within tmux, from a shell's prompt to the prompt again: nothing odd is left in the terminal."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
GUARD = 0.6
"""Seconds after which a dialog takes an answer, with something to spare."""
FLAGS = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{insert_flag}"


class Pane:
    """A shell in a tmux server of its own."""

    def __init__(self, socket: Path, env: dict[str, str], cwd: Path) -> None:
        self._argv = ["tmux", "-f", "/dev/null", "-S", str(socket)]
        self._env = {**env, "ENV": "", "LC_ALL": "C.UTF-8"}
        self._run("new-session", "-d", "-x", "100", "-y", "30", "-c", str(cwd), "sh")

    def type(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._run("send-keys", *keys)

    @property
    def text(self) -> str:
        """What stands in the pane."""
        return self._run("capture-pane", "-p")

    @property
    def modes(self) -> str:
        """The flags that a program may leave switched."""
        return self._run("display-message", "-p", FLAGS)

    def until(self, wanted: str | Callable[[], bool], seconds: float = 30) -> None:
        """Wait until this text stands there, or this holds."""
        end = time.monotonic() + seconds
        while not (wanted in self.text if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < end, f"{wanted!r} did not come:\n{self.text}"
            time.sleep(0.05)

    def end(self) -> None:
        """End the server and what runs in it."""
        self._run("kill-server")

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [*self._argv, *words], env=self._env, capture_output=True, text=True, check=True, timeout=20
        ).stdout


@pytest.fixture
def pane(program: Open, tmp_path: Path) -> Iterator[Pane]:
    made = program()
    here = Pane(tmp_path / "tmux", dict(made.env), tmp_path)
    try:
        yield here
    finally:
        here.end()


def settings(pane: Pane, mark: str) -> str:
    """The line discipline's settings."""
    pane.type(f"clear; stty -g; echo {mark}", "Enter")
    pane.until(f"\n{mark}\n")
    return pane.text.splitlines()[0]


def test_the_tour_from_prompt_to_prompt(pane: Pane, tmp_path: Path) -> None:
    before, modes = settings(pane, "one"), pane.modes
    pane.type(f"clear; {shlex.join(COMMAND)} demo {tmp_path}/tour", "Enter")
    pane.until("please fix it")
    pane.type("Enter")
    pane.until("1 Yes")
    shown = time.monotonic()
    pane.until(lambda: time.monotonic() > shown + GUARD)
    pane.type("1")
    pane.until("4 tests pass")
    pane.type("exit", "Enter")
    pane.until("codeagent -r")
    left = pane.text
    assert "4 tests pass" in left, "the tail of the conversation stays in the scrollback"
    assert pane.modes == modes
    assert settings(pane, "two") == before
