"""A terminal for tests: a program in a pty of its own, a screen model, keys in, modes left on.

with Terminal([sys.executable, "-m", "codeagent"], env=env) as terminal:
    terminal.until("ready")
    terminal.write("hello\\r")
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import pyte

_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_UNKNOWN = re.compile(
    r"\x1b\[[<>=][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;]*\$[a-z]|\x1b\[\?[0-9;]*u"
    r"|\x1b[P_^X][^\x1b]*\x1b\\|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
)
"""Sequences that pyte would print."""

WATCHED = {
    "1049": "alternate screen",
    "1000": "mouse",
    "1003": "mouse",
    "1006": "mouse",
    "1004": "focus",
    "2004": "paste",
}


class Terminal:
    """Runs `argv`; the screen is `columns` by `rows`. Every wait has a limit of `patience` seconds."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        columns: int = 90,
        rows: int = 24,
        cwd: str | None = None,
        patience: float = 20.0,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.patience = patience
        self.exit: int | None = None
        self.raw = b""
        self._stream = pyte.Stream(self.screen)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # the child
            try:
                if cwd:
                    os.chdir(cwd)
                os.execvpe(argv[0], list(argv), dict(env))
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.exit is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def modes(self) -> set[str]:
        """Terminal modes that are on, in words; a hidden cursor counts."""
        on: dict[str, bool] = {}
        for match in _MODE.finditer(self.raw):
            for number in match[1].decode().split(";"):
                on[number] = match[2] == b"h"
        hidden = {"hidden cursor"} if not on.get("25", True) else set()
        return {WATCHED[n] for n, is_on in on.items() if is_on and n in WATCHED} | hidden

    def write(self, keys: str) -> None:
        """Type."""
        os.write(self.fd, keys.encode())

    def signal(self, number: int) -> None:
        """Send the program a signal."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """What a terminal does when its window is closed: SIGHUP to the program."""
        self.signal(signal.SIGHUP)

    def until(self, wanted: str | Callable[[], object]) -> None:
        """Read until this text stands on the screen, or this holds; fail with the screen when it does not come."""
        end = time.monotonic() + self.patience
        while not (wanted in self.text if isinstance(wanted, str) else wanted()):
            if time.monotonic() > end or (not self._read(0.05) and self.exit is not None):
                raise AssertionError(f"{wanted!r} did not come; exit {self.exit}; the screen:\n{self.text}")

    def until_stopped(self) -> None:
        """Read until the program has suspended itself."""

        def stopped() -> bool:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            return bool(pid) and os.WIFSTOPPED(status)

        self.until(stopped)
        while self._read(0.0):
            pass

    def wait(self) -> int:
        """Read until the program has ended; its exit code, or minus the signal's number."""
        end = time.monotonic() + self.patience
        while self.exit is None:
            if time.monotonic() > end:
                raise AssertionError(f"it did not end; the screen:\n{self.text}")
            self._read(0.02)
        while self._read(0.0):
            pass
        return self.exit

    def _read(self, wait: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], wait)
        data = b""
        if ready:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                data = b""
        if data:
            self.raw += data
            self._take(data)
        elif self.exit is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit = os.waitstatus_to_exitcode(status)
        return bool(data)

    def _take(self, data: bytes) -> None:
        """Put what was written on the screen model."""
        self._stream.feed(_UNKNOWN.sub("", self._decode(data)))
