"""A choice among the hunks of a change: which are taken, which one the keys act on, and how that looks."""

from __future__ import annotations

from bisect import bisect_right

from msgspec.structs import replace
from rich.text import Text
from textual.strip import Strip

from codeagent.core.hunks import counts, place
from codeagent.core.views import Diff, Hunk
from codeagent.fronts import present
from codeagent.fronts.tui.render import Painter


class Picking:
    """All hunks are taken at first; the keys act on the first."""

    def __init__(self, diff: Diff) -> None:
        self._diff = diff
        self._taken = set(range(len(diff.hunks)))
        self._at = 0
        self._tops: dict[int, list[int]] = {}
        """By the width that was drawn: the row of each hunk's head, and the number of rows."""
        self._bodies: dict[tuple[int, int, str], list[Strip]] = {}
        """By hunk, width and theme: drawing 100 hunks takes half a second, which each key would wait for."""

    @property
    def taken(self) -> tuple[int, ...]:
        """Positions of the hunks that are taken."""
        return tuple(sorted(self._taken))

    @property
    def words(self) -> str:
        """What a yes would be."""
        many, of = len(self._taken), len(self._diff.hunks)
        if many == of:
            return "Yes, all of it"
        return f"Yes, {many} of {present.count(of, 'hunk')}" if many else "None of it, which is a no"

    def where(self, width: int) -> tuple[int, int]:
        """The first row of the current hunk, as drawn for this width, and the row behind its last."""
        tops = self._tops[width]
        return tops[self._at], tops[self._at + 1]

    def key(self, key: str) -> bool:
        """Move or mark as this key says; whether it is one that does."""
        match key:
            case "up" | "down":
                self._at = (self._at + (1 if key == "down" else -1)) % len(self._diff.hunks)
            case "space":
                self._taken ^= {self._at}
            case _:
                return False
        return True

    def click(self, row: int, width: int) -> None:
        """Mark the hunk that is drawn in this row, for this width."""
        tops = self._tops[width]
        if row < tops[-1]:
            self._at = bisect_right(tops, row) - 1
            self._taken ^= {self._at}

    def rows(self, painter: Painter, width: int) -> list[Strip]:
        """All hunks, each under a head that says whether it is taken; those left out without colours."""
        drawn: list[Strip] = []
        tops = self._tops[width] = []
        for position, hunk in enumerate(self._diff.hunks):
            tops.append(len(drawn))
            drawn.append(self._head(painter, position, hunk, width))
            rows = self._body(painter, position, hunk, width)
            drawn += rows if position in self._taken else [_quiet(painter, row) for row in rows]
        tops.append(len(drawn))
        return drawn

    def _body(self, painter: Painter, position: int, hunk: Hunk, width: int) -> list[Strip]:
        key = position, width, painter.palette.name
        if key not in self._bodies:
            self._bodies[key] = painter.diff(replace(self._diff, hunks=(hunk,)), width)
        return self._bodies[key]

    def _head(self, painter: Painter, position: int, hunk: Hunk, width: int) -> Strip:
        palette, glyphs = painter.palette, painter.glyphs
        here, taken = position == self._at, position in self._taken
        added, removed = counts(hunk)
        row = Text(style=f"bold {palette.text} on {palette.chosen}" if here else palette.text, end="")
        row.append(f"{glyphs.you if here else ' '} [{glyphs.done if taken else ' ' * len(glyphs.done)}] ")
        row.append(f"{position + 1} of {len(self._diff.hunks)}  ")
        row.append("" if taken else "left out  ", palette.warning)
        row.append(f"{place(hunk, 'old')}  ")
        row.append(f"+{added}", palette.added).append(" ").append(f"-{removed}", palette.removed)
        row.truncate(width, pad=here)
        return painter.strip(row)


def _quiet(painter: Painter, row: Strip) -> Strip:
    return painter.strip(Text(row.text.rstrip(), painter.palette.muted))
