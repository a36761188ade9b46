"""What goes to the terminal when the screen changes: only rows that differ, and one scroll where all moved up.

Textual writes every row of a widget that scrolled: a streamed reply of 10 kB became 2 MB. Here the rows
that stand on the screen are known; those that moved are moved by the terminal (index at the lower margin).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.console import Console

FURTHEST = 16
"""Rows of a scroll up to which it is looked for; more is as cheap to draw."""
LEAST = 6
"""Rows that a scroll must save; it must also save a third of what is drawn, and more than standing still."""

Row = dict[int, Strip]
"""What stands in a row: strips by the column that they begin in."""


class Thrift:
    """Knows what stands on the screen. `sequence` gives what must be written for an update, and takes it as written."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}

    def forget(self) -> None:
        """The screen was written by others."""
        self._rows.clear()

    def sequence(self, update: ChopsUpdate, console: Console) -> str:
        """The bytes for a partial update, as text."""
        pieces = list(_pieces(update))
        written = [self._scrolled(pieces, console)]
        for y, x, strip, whole in pieces:
            row = self._rows.setdefault(y, {})
            if whole and row.get(x) == strip:
                continue
            skipped, new = _narrowed(row.get(x), strip)
            written.append(f"\x1b[{y + 1};{x + skipped + 1}H{new.render(console)}")
            for other in [o for o, known in row.items() if o < x + strip.cell_length and x < o + known.cell_length]:
                del row[other]
            row[x] = strip
        return "".join(written)

    def _scrolled(self, pieces: list[tuple[int, int, Strip, bool]], console: Console) -> str:
        """Move rows up where most of the new ones stand further down already."""
        new = {y: strip for y, x, strip, whole in pieces if x == 0 and whole}
        if len(new) < LEAST:
            return ""
        top, bottom = min(new), max(new)
        if len(new) != bottom - top + 1:
            return ""
        filled = {y: strip for y, strip in new.items() if not strip.text.isspace()}
        enough = max(LEAST, len(filled) // 3, self._saved(filled, bottom, 0) + 1)
        by = next((by for by in range(1, FURTHEST + 1) if self._saved(filled, bottom, by) >= enough), 0)
        if by == 0:
            return ""
        moved = f"\x1b[0m\x1b[{top + 1};{bottom + 1}r\x1b[{bottom + 1};1H" + "\x1bD" * by + "\x1b[r"
        return moved + self._mended(top, bottom, by, console)

    def _mended(self, top: int, bottom: int, by: int, console: Console) -> str:
        """Take in that these rows moved up; what stood beside them (a scrollbar) is put back."""
        before = {y: self._rows.get(y, {}) for y in range(top, bottom + 1)}
        back = []
        for y in range(top, bottom + 1):
            row = dict(before.get(y + by, {}))
            for x, strip in before[y].items():
                if x and row.get(x) != strip:
                    back.append(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}")
                    row[x] = strip
            self._rows[y] = row
        return "".join(back)

    def _saved(self, filled: dict[int, Strip], bottom: int, by: int) -> int:
        """How many of the rows with something in them would be right after a scroll by so many."""
        return sum(self._rows.get(y + by, {}).get(0) == strip for y, strip in filled.items() if y + by <= bottom)


def _narrowed(old: Strip | None, new: Strip) -> tuple[int, Strip]:
    """What must be written of a strip where `old` stands: columns to leave out before it, and the rest.

    Left out are the same pieces at the beginning and the same blanks at the end.
    """
    if old is None or old.cell_length != new.cell_length:
        return 0, new.simplify()
    was, now = list(old.simplify()), list(new.simplify())
    skipped = 0
    while was and now and was[0] == now[0]:
        skipped += now[0].cell_length
        del was[0], now[0]
    if was and now and was[-1].style == now[-1].style and not (was[-1].text.strip() or now[-1].text.strip()):
        length = len(now[-1].text) - min(len(was[-1].text), len(now[-1].text))
        now[-1] = Segment(" " * length, now[-1].style)
    return skipped, Strip(now)


class Thrifty(CompositorUpdate):
    """An update as it comes from Textual, to be written with thrift."""

    def __init__(self, update: ChopsUpdate, thrift: Thrift) -> None:
        self._update, self._thrift = update, thrift

    def render_segments(self, console: Console) -> str:
        """What is written."""
        return self._thrift.sequence(self._update, console)


def _pieces(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip, bool]]:
    """Row, column and strip of what an update draws, and whether the strip is all that stands from there."""
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > x2 or end <= x1:
                continue
            if x2 > x >= x1 and end <= x2:
                yield y, x, strip, True
            else:
                yield y, x, strip.crop(0, min(end, x2) - x), False
