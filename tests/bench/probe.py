"""A program in a pty, looked at by its bytes and by the clock: drawing its screen would disturb what is measured."""

from __future__ import annotations

import os
import re
import statistics
import time
from dataclasses import dataclass

from tests.pty_terminal import Terminal

LETTERS = [
    chr(c) for c in (*range(0x0431, 0x0450), *range(0x0451, 0x0457), *range(0x03B1, 0x03C2), *range(0x0561, 0x0580))
]
"""Keys whose echo cannot be mistaken: no reply has these letters."""

_ESCAPES = re.compile(rb"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b[P_^\]][^\x1b\x07]*(?:\x07|\x1b\\)")


@dataclass(frozen=True)
class Echo:
    """Milliseconds from a key to its sight; `lost` keys were never seen."""

    p50: float
    p95: float
    lost: int

    @classmethod
    def of(cls, seconds: list[float], lost: int) -> Echo:
        ordered = sorted(1000 * s for s in seconds) or [9999.0]
        return cls(statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))], lost)


class Probe(Terminal):
    """A terminal of 120x36 that keeps (time, bytes) and answers nothing."""

    def __init__(self, argv: list[str], *, env: dict[str, str], cwd: str, patience: float = 90.0) -> None:
        self.began = time.monotonic()
        self.seen: list[tuple[float, bytes]] = []
        super().__init__(argv, env=env, cwd=cwd, columns=120, rows=36, patience=patience)

    @property
    def text(self) -> str:
        """All that was ever written, without the escapes."""
        return _ESCAPES.sub(b"", self.raw).decode("utf-8", "replace")

    def when(self, wanted: str, start: int = 0) -> float:
        """Wait until these words are written; seconds since the program was started. `start` is a length of `raw`."""
        end = time.monotonic() + self.patience
        while wanted not in _ESCAPES.sub(b"", self.raw[start:]).decode("utf-8", "replace"):
            if time.monotonic() > end or (not self._read(0.02) and self.exit is not None):
                raise AssertionError(f"{wanted!r} did not come: {self.text[-600:]}")
        return self.seen[-1][0] - self.began

    def run_for(self, seconds: float) -> None:
        """Read so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    def echo(self, letters: list[str], gap: float = 0.06) -> Echo:
        """Type these, one each `gap` seconds, and see when each is drawn."""
        took = self.echo_times(letters, gap)
        return Echo.of(took, len(letters) - len(took))

    def echo_times(self, letters: list[str], gap: float = 0.06) -> list[float]:
        """The same in seconds, one for each letter that was drawn."""
        pressed: dict[str, float] = {}
        start = len(self.seen)
        for letter in letters:
            pressed[letter] = time.monotonic()
            self.write(letter)
            self.run_for(gap)
        self.run_for(0.5)
        took = []
        for letter, at in pressed.items():
            coded = letter.encode()
            shown = next((when for when, data in self.seen[start:] if when >= at and coded in data), None)
            took += [shown - at] if shown is not None else []
        return took

    def cpu(self) -> float:
        """Seconds of processor that the program has used so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Its resident memory, in MiB."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _take(self, data: bytes) -> None:
        self.seen.append((time.monotonic(), data))  # no screen model: that would cost more than what is measured
