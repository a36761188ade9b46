"""What was typed before in this project, one JSON line a message, the newest last."""

from __future__ import annotations

import fcntl
from pathlib import Path

import msgspec

MOST = 1000
"""Messages that are remembered when a file is read."""


class History:
    """Messages to step through. Without a `path`, or when its file cannot be used, they are kept for this run only."""

    def __init__(self, path: Path | None = None) -> None:
        self._path: Path | None = None
        self._lines: list[str] = []
        self._at = 0
        self._draft = ""
        self.use(path)

    def use(self, path: Path | None) -> None:
        """Keep it in this file from now on; what was added before comes after what the file holds."""
        added, self._path = self._lines, path
        self._lines = self._read() + added
        self._at = len(self._lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """All messages, the newest last."""
        return tuple(self._lines)

    def add(self, text: str) -> None:
        """Remember a message; the same twice in a row counts once."""
        if text.strip() and (not self._lines or self._lines[-1] != text):
            self._lines.append(text)
            self._write(text)
        self._at = len(self._lines)
        self._draft = ""

    def older(self, current: str) -> str | None:
        """The message before; `current` is kept to come back to. None at the oldest."""
        if self._at == 0:
            return None
        if self._at == len(self._lines):
            self._draft = current
        self._at -= 1
        return self._lines[self._at]

    def newer(self) -> str | None:
        """The message after, or the draft; None when already there."""
        if self._at >= len(self._lines):
            return None
        self._at += 1
        return self._draft if self._at == len(self._lines) else self._lines[self._at]

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            raw = self._path.read_bytes().splitlines()[-MOST:]
        except OSError:
            return []
        lines = []
        for line in raw:
            try:
                lines.append(msgspec.json.decode(line, type=str))
            except msgspec.DecodeError:
                continue
        return lines

    def _write(self, text: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(msgspec.json.encode(text) + b"\n")
        except OSError:
            self._path = None
