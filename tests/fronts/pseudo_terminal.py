"""A program in a pseudo-terminal: type to it, wait for what it shows, signal it, and see how it left the terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte


class PseudoTerminal:
    """Ends what it started when the block ends."""

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, columns: int = 100, rows: int = 40
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        self.raw = b""
        self._screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self._screen)
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        for descriptor in (self._master, self._slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str, seconds: float = 15.0, *, after: int = 0) -> int:
        """Read until the output from byte `after` on holds `text`; the place behind it."""
        wanted = text.encode()
        end = time.monotonic() + seconds
        while wanted not in self.raw[after:]:
            assert self._read(end - time.monotonic()), f"no {text!r} in:\n{self.raw[after:].decode(errors='replace')}"
        return self.raw.index(wanted, after) + len(wanted)

    def wait_until_shown(self, text: str, seconds: float = 15.0) -> None:
        """Read until the screen shows `text`; an editor may write only the cells that changed."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert self._read(end - time.monotonic()), f"no {text!r} on:\n{self.text}"

    def wait(self, seconds: float = 20.0) -> int:
        """Read until the program has ended; its exit code, negative for a signal."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            self._read(min(0.1, end - time.monotonic()))
            assert time.monotonic() < end, f"still runs:\n{self.raw.decode(errors='replace')}"
        while self._read(0):
            pass
        return self.process.returncode

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        data = os.read(self._master, 65536)
        self.raw += data
        self._stream.feed(data)
        if b"\x1b[6n" in data:  # a query for the cursor
            os.write(self._master, b"\x1b[%d;%dR" % (self._screen.cursor.y + 1, self._screen.cursor.x + 1))
        return True

    @property
    def text(self) -> str:
        """All that was shown, scrolled off lines included, without trailing blanks."""
        top = ["".join(row[x].data for x in range(self._screen.columns)) for row in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*top, *self._screen.display]).rstrip()

    @property
    def modes(self) -> list[object]:
        """The terminal's settings now, to be compared with `before`."""
        return termios.tcgetattr(self._slave)
