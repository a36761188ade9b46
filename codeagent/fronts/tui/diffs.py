"""The picture of an edit: numbered lines, changed words marked, syntax under a quiet tint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from codeagent.core.clean import clean
from codeagent.core.views import Diff, Hunk
from codeagent.fronts import present
from codeagent.fronts.tui.code import highlight

if TYPE_CHECKING:
    from codeagent.fronts.tui.palette import Glyphs, Palette

_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.35
"""Lines less alike than this are replaced as a whole: marking words in them would be noise."""

GUTTER = 10
"""Cells before the code: number, sign, blanks."""


def changed_spans(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where two lines differ, word by word, as (start, end) in each; empty when they have too little in common."""
    from difflib import SequenceMatcher

    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [], []
    starts_before, starts_after = _starts(before), _starts(after)
    gone, come = [], []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        if i2 > i1:
            gone.append((starts_before[i1], starts_before[i2]))
        if j2 > j1:
            come.append((starts_after[j1], starts_after[j2]))
    return gone, come


def _starts(words: list[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _pairs(lines: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Positions of a removed line and of the added one that replaces it, for runs of equal length."""
    at = 0
    while at < len(lines):
        gone = at
        while gone < len(lines) and lines[gone][:1] == "-":
            gone += 1
        come = gone
        while come < len(lines) and lines[come][:1] == "+":
            come += 1
        if come - gone == gone - at:
            yield from zip(range(at, gone), range(gone, come), strict=True)
        at = max(come, at + 1)


def _coloured(hunk: Hunk, path: str, palette: Palette) -> list[Text]:
    """The hunk's lines without their signs; old and new text are each lexed as one piece."""
    texts = [Text()] * len(hunk.lines)
    for own, other in (("-", "+"), ("+", "-")):
        chosen = [i for i, line in enumerate(hunk.lines) if line[:1] != other]
        if not chosen:
            continue
        code = "\n".join(clean(hunk.lines[i][1:]).replace("\n", "⏎") for i in chosen)
        for index, text in zip(chosen, highlight(code, palette, path=path), strict=True):
            if hunk.lines[index][:1] == own or own == "+":
                texts[index] = text
    return texts


def marked(hunk: Hunk, path: str, palette: Palette) -> list[Text]:
    """The hunk's lines without their signs, in colour, changed words on their own ground."""
    texts = _coloured(hunk, path, palette)
    for old, new in _pairs(hunk.lines):
        gone, come = changed_spans(texts[old].plain, texts[new].plain)
        for start, end in gone:
            texts[old].stylize(f"on {palette.removed_word}", start, end)
        for start, end in come:
            texts[new].stylize(f"on {palette.added_word}", start, end)
    return texts


def _numbers(hunk: Hunk) -> Iterator[int]:
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        sign = line[:1]
        yield old if sign == "-" else new
        old += sign != "+"
        new += sign != "-"


def rows(diff: Diff, width: int, palette: Palette, glyphs: Glyphs) -> list[Text]:
    """The diff as lines of exactly `width` cells where a ground is drawn, long ones wrapped under their code."""
    drawn: list[Text] = []
    for position, hunk in enumerate(diff.hunks):
        if position:
            drawn.append(Text(f"{glyphs.more:>6}", palette.muted))
        texts = marked(hunk, diff.path, palette)
        for number, line, text in zip(_numbers(hunk), hunk.lines, texts, strict=True):
            drawn.extend(line_rows(number, line[:1], text, width, palette))
    if diff.omitted:
        drawn.append(
            Text(f"{glyphs.more:>6}  {present.count(diff.omitted, 'more line')} of this change", palette.muted)
        )
    return drawn


def line_rows(number: int, sign: str, code: Text, width: int, palette: Palette) -> Iterator[Text]:
    """One line as rows: number, sign, code; a ground goes to the full width."""
    colour, ground = {
        "+": (palette.added, f" on {palette.added_ground}"),
        "-": (palette.removed, f" on {palette.removed_ground}"),
    }.get(sign, (palette.muted, ""))
    code.expand_tabs(4)
    room = max(8, width - GUTTER)
    pieces = code.divide(range(room, len(code.plain), room)) if len(code.plain) > room else [code]
    for part, piece in enumerate(pieces):
        row = Text(style=f"{palette.text}{ground}", end="")
        row.append(f"{number:>6}" if part == 0 else " " * 6, colour)
        row.append(f"  {sign if part == 0 else ' '} ", f"{colour} bold")
        row.append_text(piece)
        if ground and row.cell_len < width:
            row.append(" " * (width - row.cell_len))
        yield row
