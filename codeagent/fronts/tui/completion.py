"""What may be meant by what was typed so far: commands after `/`, files after `@`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from heapq import nsmallest

MOST = 8
"""Rows offered at most."""

_AT = re.compile(r"(?:^|(?<=\s))@([^\s@]*)$")


def mention(before: str) -> str | None:
    """The part of a file's name that stands before the cursor after an `@`, or None."""
    match = _AT.search(before)
    return match[1] if match else None


def score(query: str, path: str) -> float | None:
    """How well a path fits, smaller is better; None when the letters do not occur in this order.

    A run in the file's own name beats a run in its folders, which beats scattered letters; then the shorter path.
    """
    low, wanted = path.lower(), query.lower()
    name = low.rpartition("/")[2]
    if name.startswith(wanted):
        return len(path) / 1000
    if wanted in name:
        return 1 + len(path) / 1000
    if wanted in low:
        return 2 + len(path) / 1000
    at, gaps = -1, 0
    for char in wanted:
        found = low.find(char, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1 if at >= 0 else 0
        at = found
    return 3 + gaps / 10 + len(path) / 1000


def fitting(query: str, paths: Sequence[str], most: int = MOST) -> list[str]:
    """The best paths for a query, best first. Scattered letters take longest: only when runs are few."""
    if not query:
        return nsmallest(most, paths, key=lambda p: (p.count("/"), p))
    wanted = query.lower()
    runs = [path for path in paths if wanted in path.lower()]
    found = _best(query, runs, most)
    return found if len(found) == most else _best(query, paths, most)


def _best(query: str, paths: Iterable[str], most: int) -> list[str]:
    scored = ((points, path) for path in paths if (points := score(query, path)) is not None)
    return [path for _, path in nsmallest(most, scored)]
