"""What was typed before, to step through: older and newer, with the draft at its end."""

from __future__ import annotations

from pathlib import Path

from codeagent.fronts import past


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
        self._lines = (past.read(path) if path else []) + added
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

    def _write(self, text: str) -> None:
        if self._path is None:
            return
        try:
            past.add(self._path, text)
        except OSError:
            self._path = None
