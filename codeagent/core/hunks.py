"""A part of a change: the text that comes of some hunks alone, its diff, and how the model is told. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Literal

from msgspec.structs import replace

from codeagent.core.diffs import Span
from codeagent.core.views import Diff, Hunk

TOLD = 200
"""Lines of the diff that the model is told, and characters of each; it knows its own call."""


def mixed(before: str, after: str, groups: Sequence[Sequence[Span]], taken: Collection[int]) -> str:
    """The text before, with those groups (of `diffs.groups`) as they are in the text after. A line is what LF ends."""
    old, new = _lines(before), _lines(after)
    made: list[str] = []
    at = 0
    for group in (groups[position] for position in sorted(taken)):
        for a, b, c, d in group:
            made += old[at:a]
            made += new[c:d]
            at = b
    return "".join([*made, *old[at:]])


def parted(view: Diff, taken: Collection[int]) -> tuple[Diff, tuple[Hunk, ...]]:
    """The diff of the taken hunks alone, and the others with the numbers of the text that they leave."""
    made: list[Hunk] = []
    left: list[Hunk] = []
    moved = 0
    for position, hunk in enumerate(view.hunks):
        here = replace(hunk, new_start=hunk.old_start + moved)
        if position in taken:
            made.append(here)
            added, removed = counts(hunk)
            moved += added - removed
        else:
            left.append(replace(here, old_start=here.new_start))
    totals = [counts(hunk) for hunk in made]
    added, removed = sum(a for a, _ in totals), sum(r for _, r in totals)
    return replace(view, hunks=tuple(made), added=added, removed=removed), tuple(left)


def counts(hunk: Hunk) -> tuple[int, int]:
    """Lines that it adds and removes."""
    signs = [line[0] for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def place(hunk: Hunk, side: Literal["old", "new"]) -> str:
    """Where it changes the text before or after: `line 4`, `lines 4-6`, or `after line 3` where there is nothing."""
    other = "+" if side == "old" else "-"
    above = sum(1 for _ in takewhile(lambda line: line[0] == " ", hunk.lines))
    below = sum(1 for _ in takewhile(lambda line: line[0] == " ", reversed(hunk.lines)))
    middle = hunk.lines[above : len(hunk.lines) - below]
    first = (hunk.old_start if side == "old" else hunk.new_start) + above
    last = first - 1 + sum(line[0] != other for line in middle)
    if last < first:
        return f"after line {last}" if last else "at the start"
    return f"line {first}" if first == last else f"lines {first}-{last}"


def told(made: Diff, left: Sequence[Hunk]) -> str:
    """What the model must know: which part the person took, in lines of the file as it is now, and its diff."""
    applied = "; ".join(place(hunk, "new") for hunk in made.hunks)
    out = "; ".join(place(hunk, "old") for hunk in left)
    lines = list(_unified(made))
    more = [f"... {len(lines) - TOLD} more lines"] if len(lines) > TOLD else []
    return "\n".join(
        [
            f" The user took {len(made.hunks)} of {len(made.hunks) + len(left)} hunks of your change.",
            f"Applied: {applied}. Left out, unchanged there: {out}. (Lines as the file is now.) What was applied:",
            *lines[:TOLD],
            *more,
        ]
    )


def _unified(view: Diff) -> Iterator[str]:
    for hunk in view.hunks:
        added, removed = counts(hunk)
        same = len(hunk.lines) - added - removed
        yield f"@@ -{hunk.old_start},{same + removed} +{hunk.new_start},{same + added} @@"
        yield from (line[:TOLD] for line in hunk.lines)


def _lines(text: str) -> list[str]:
    """Lines with their LF; the last one may lack it."""
    *ended, last = text.split("\n")
    return [line + "\n" for line in ended] + ([last] if last else [])
