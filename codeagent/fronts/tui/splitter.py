"""Cut streamed Markdown into blocks that can no longer change, so that only the last one is drawn again.

A block is closed by a blank line that is followed by a line which cannot belong to it, by a code
fence that begins, or by the end of its own fence. How the text was chopped on its way makes no
difference to the blocks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$")
_ANY_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"^([-*+]|\d{1,9}[.)])([ \t]|$)")
_MAYBE_ITEM = re.compile(r"^([-*+]|\d{1,9}[.)]?)$")

LONGEST_LIST = 4000
"""Characters after which a loose list is cut between two items, so that the open tail stays cheap."""


def opens_fence(line: str) -> str:
    """The fence mark that this top-level line opens, or an empty string."""
    match = _FENCE.match(line)
    if match is None or (match[2][0] == "`" and "`" in match[3]):
        return ""
    return match[2]


class Splitter:
    """Feed it words; it gives back closed blocks. `tail` is the block that is still being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._partial = ""
        self._fence = ""
        self._nested = False
        self._list = False
        self._blank = False

    @property
    def tail(self) -> str:
        """What may still change."""
        return "\n".join((*self._lines, self._partial)) if self._lines else self._partial

    @property
    def in_code(self) -> bool:
        """Whether the tail is a top-level code fence that has not ended."""
        return bool(self._fence) and not self._nested

    def feed(self, text: str) -> list[str]:
        """Take the next words; return the blocks that they closed."""
        closed: list[str] = []
        *lines, partial = text.split("\n")
        if lines:
            lines[0] = self._partial + lines[0]
            self._partial = ""
            for line in lines:
                self._line(line, closed)
        self._partial += partial
        if self._blank and self._partial and self._foreign(self._partial, whole=False):
            self._close(closed)
        return closed

    def finish(self) -> list[str]:
        """The text is over: return what remained."""
        closed: list[str] = []
        if self._partial:
            partial, self._partial = self._partial, ""
            self._line(partial, closed)
        self._close(closed)
        return closed

    def _line(self, line: str, closed: list[str]) -> None:
        if self._fence:
            self._append(line)
            self._end_fence(line, closed)
        elif not line.strip():
            if self._lines:
                self._blank = True
                self._append(line)
        else:
            if self._blank and self._foreign(line, whole=True):
                self._close(closed)
            self._open_fence(line, closed)
            if not self._lines:
                self._list = bool(_ITEM.match(line))
            self._blank = False
            self._append(line)

    def _open_fence(self, line: str, closed: list[str]) -> None:
        if not (self._list and self._lines and line[0].isspace()) and (mark := opens_fence(line)):
            self._close(closed)
            self._fence, self._nested = mark, False
        elif (match := _ANY_FENCE.match(line)) and self._list and "`" not in match[2]:
            self._fence, self._nested = match[1], True

    def _end_fence(self, line: str, closed: list[str]) -> None:
        mark = line.strip()
        if len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
            self._fence = ""
            if not self._nested:
                self._close(closed)

    def _foreign(self, line: str, *, whole: bool) -> bool:
        """Whether a line after a blank one cannot belong to the open block."""
        if line[0].isspace():
            return False
        if not self._list or self._size > LONGEST_LIST:
            return True
        if _ITEM.match(line):
            return False
        return whole or not _MAYBE_ITEM.match(line)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _close(self, closed: list[str]) -> None:
        text = "\n".join(self._lines).rstrip("\n") if self._lines else ""
        if text.strip():
            closed.append(text)
        self._lines.clear()
        self._size = 0
        self._fence = ""
        self._nested = self._list = self._blank = False


def split(text: str) -> list[str]:
    """All blocks of a text that is already whole."""
    splitter = Splitter()
    return [*splitter.feed(text), *splitter.finish()]
