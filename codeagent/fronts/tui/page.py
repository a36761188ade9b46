"""The conversation as rows: blocks drawn lazily from the tail, their strips kept until they are out of date.

Pure: no screen, no timer. Row 0 is the first row of the first *drawn* block; `load` puts older
blocks before it and tells how far everything moved down.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from textual.strip import Strip

from codeagent.fronts.tui.pieces import Block
from codeagent.fronts.tui.render import Painter


class Drawn:
    """A block's strips, and for which version and painter they were made."""

    __slots__ = ("block", "painter", "strips", "version")

    def __init__(self, block: Block, painter: Painter, old: Sequence[Strip] = ()) -> None:
        self.block = block
        self.version = block.version
        self.painter = painter
        strips = painter.draw(block)
        same = [was if was == now else now for was, now in zip(old, strips, strict=False)]
        self.strips = same + strips[len(same) :]

    def fresh(self, painter: Painter) -> bool:
        """Whether the strips still show the block in this painter's width and colours."""
        return self.version == self.block.version and self.painter is painter


class Page:
    """The drawn end of `blocks`. `first` is the index of the first drawn block, `total` the number of rows."""

    def __init__(self, blocks: list[Block], painter: Painter) -> None:
        self.blocks = blocks
        self.painter = painter
        self.first = len(blocks)
        self.total = 0
        self._drawn: list[Drawn] = []
        self._starts: list[int] = []

    def __len__(self) -> int:
        """How many blocks are drawn."""
        return len(self._drawn)

    def load(self, rows: int) -> int:
        """Draw about this many rows of older blocks; how many came."""
        older: list[Drawn] = []
        got = 0
        while self.first > 0 and got < rows:
            self.first -= 1
            older.append(Drawn(self.blocks[self.first], self.painter))
            got += len(older[-1].strips)
        self._drawn[:0] = reversed(older)
        self._measure(0)
        return got

    def trim(self, most: int) -> bool:
        """Let go of the oldest rows, whole blocks, until about so many are left; whether any went."""
        gone = bisect_right(self._starts, max(0, self.total - most)) - 1
        if gone <= 0:
            return False
        del self._drawn[:gone]
        self.first += gone
        self._measure(0)
        return True

    def update(self, changed: int) -> int:
        """Draw anew what changed from this block on; the first row that looks different."""
        self.first = min(self.first, len(self.blocks))
        position = max(0, changed - self.first)
        kept = {id(drawn.block): drawn for drawn in self._drawn[position:]}
        before = self._strips(position)
        top = self._starts[position] if position < len(self._starts) else self.total
        del self._drawn[position:]
        for block in self.blocks[self.first + position :]:
            old = kept.get(id(block))
            fresh = old is not None and old.fresh(self.painter)
            self._drawn.append(old if old and fresh else Drawn(block, self.painter, old.strips if old else ()))
        self._measure(position)
        same = 0
        for was, now in zip(before, self._strips(position), strict=False):
            if was is not now:
                break
            same += 1
        return top + same

    def repaint(self, painter: Painter, row: int) -> None:
        """Use another painter; the block at `row` becomes the first, older ones are drawn when they are wanted."""
        self.painter = painter
        top = max(0, bisect_right(self._starts, row) - 1)
        self.first += top
        del self._drawn[:top]
        self._measure(0)

    def freshen(self, row: int, rows: int) -> bool:
        """Draw what is out of date among these rows; whether anything was."""
        position = max(0, bisect_right(self._starts, row) - 1)
        stale = False
        while position < len(self._drawn) and self._starts[position] < row + rows:
            drawn = self._drawn[position]
            if not drawn.fresh(self.painter):
                self._drawn[position] = Drawn(drawn.block, self.painter)
                self._measure(position)
                stale = True
            position += 1
        return stale

    def row(self, row: int) -> Strip:
        """One row, 0 to `total` - 1."""
        position = bisect_right(self._starts, row) - 1
        return self._drawn[position].strips[row - self._starts[position]]

    def block_at(self, row: int) -> int:
        """The index in `blocks` of the block that this row belongs to."""
        return self.first + bisect_right(self._starts, row) - 1

    def start(self, index: int) -> int:
        """The first row of a drawn block."""
        return self._starts[index - self.first]

    def end(self, index: int) -> int:
        """The row after the last of a drawn block."""
        at = index - self.first + 1
        return self._starts[at] if at < len(self._starts) else self.total

    def text(self) -> list[str]:
        """All rows as plain text."""
        return [strip.text.rstrip() for strip in self._strips(0)]

    def _strips(self, position: int) -> list[Strip]:
        return [strip for drawn in self._drawn[position:] for strip in drawn.strips]

    def _measure(self, position: int) -> None:
        del self._starts[position:]
        total = self._starts[-1] + len(self._drawn[position - 1].strips) if position else 0
        for drawn in self._drawn[position:]:
            self._starts.append(total)
            total += len(drawn.strips)
        self.total = total
