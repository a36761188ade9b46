"""The picture of an edit on a wide screen: what was on the left, what is on the right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.text import Text

from codeagent.fronts import present
from codeagent.fronts.tui.diffs import line_rows, marked

if TYPE_CHECKING:
    from codeagent.core.views import Diff, Hunk
    from codeagent.fronts.tui.palette import Glyphs, Palette

WIDE = 136
"""Cells from which two halves of a diff stand side by side: 67 each, 57 of them code."""

Side = tuple[int, int] | None
"""A line of one half: its index in the hunk and its number; None where the other half has more."""


def rows(diff: Diff, width: int, palette: Palette, glyphs: Glyphs) -> list[Text]:
    """The diff as lines of `width` cells."""
    half = (width - 1) // 2
    drawn: list[Text] = []
    for position, hunk in enumerate(diff.hunks):
        if position:
            drawn.append(Text(f"{glyphs.more:>6}", palette.muted))
        texts = marked(hunk, diff.path, palette)
        for left, right in _aligned(hunk):
            halves = [list(_half(side, hunk, texts, half, palette)) for side in (left, right)]
            for was, now in zip_longest(*halves):
                drawn.append(_joined(was, now, half))
    if diff.omitted:
        words = f"{glyphs.more:>6}  {present.count(diff.omitted, 'more line')} of this change"
        drawn.append(Text(words, palette.muted))
    return drawn


def _half(side: Side, hunk: Hunk, texts: list[Text], width: int, palette: Palette) -> Iterator[Text]:
    if side is not None:
        index, number = side
        yield from line_rows(number, hunk.lines[index][:1], texts[index].copy(), width, palette)


def _joined(was: Text | None, now: Text | None, half: int) -> Text:
    row = Text(end="")
    row.append_text(was if was is not None else Text())
    row.append(" " * (half + 1 - row.cell_len))
    return row.append_text(now if now is not None else Text())


def _aligned(hunk: Hunk) -> Iterator[tuple[Side, Side]]:
    """Lines that stand beside each other: the same on both sides, or what was removed and what came for it."""
    old, new = hunk.old_start, hunk.new_start
    gone: list[tuple[int, int]] = []
    come: list[tuple[int, int]] = []
    for index, line in enumerate(hunk.lines):
        sign = line[:1]
        if sign == "-" and come:
            yield from zip_longest(gone, come)
            gone, come = [], []
        if sign == "-":
            gone.append((index, old))
        elif sign == "+":
            come.append((index, new))
        else:
            yield from zip_longest(gone, come)
            gone, come = [], []
            yield (index, old), (index, new)
        old += sign != "+"
        new += sign != "-"
    yield from zip_longest(gone, come)
