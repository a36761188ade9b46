"""Cuts Markdown that still streams into blocks that are closed, so that each is printed once and for good."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class Splitter:
    """Fed with text as it comes. A block is closed by a blank line outside a code fence, or by the fence's end."""

    def __init__(self) -> None:
        self._line = ""
        self._block: list[str] = []
        self._fence = ""

    def feed(self, text: str) -> list[str]:
        """Take more text; the blocks that it closed, in order, without blank lines around them."""
        *whole, self._line = (self._line + text).split("\n")
        return [block for line in whole if (block := self._take(line))]

    def rest(self) -> str:
        """End here: what was still open, an empty string if nothing."""
        block = "\n".join([*self._block, self._line] if self._line.strip() else self._block)
        self._line, self._block, self._fence = "", [], ""
        return block.rstrip()

    def _take(self, line: str) -> str:
        """Add a whole line; the block that it closed, or an empty string."""
        fence = _FENCE.match(line)
        if self._fence:
            self._block.append(line)
            ends = fence and fence[1].startswith(self._fence) and not line.strip().strip(self._fence[0])
            return self._close() if ends else ""
        if fence:
            before = self._close()
            self._fence = fence[1]
            self._block.append(line)
            return before
        if line.strip():
            self._block.append(line)
            return ""
        return self._close()

    def _close(self) -> str:
        block = "\n".join(self._block).rstrip()
        self._block, self._fence = [], ""
        return block
