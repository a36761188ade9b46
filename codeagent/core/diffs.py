"""What changed between two texts, as data that every front can draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from codeagent.core.views import Diff, Hunk

CONTEXT = 2
"""Unchanged lines shown around a change."""
LINES = 600
"""Diff lines kept; what lies beyond is counted in `Diff.omitted`."""
WIDTH = 1000
"""Characters of one line that are kept."""
CAREFUL = 3000
"""Changed lines (both sides together) up to which the closest alignment is looked for; it is quadratic."""

Span = tuple[int, int, int, int]
"""Old lines `[a, b)` became new lines `[c, d)`, counted from 0."""


def diff(path: str, before: str, after: str, *, created: bool = False) -> Diff:
    """The change of one file, with context, counts, and at most `LINES` lines; a line is what LF ends."""
    above, old, new = _middle(before, after)
    spans = list(_spans(old, new))
    hunks: list[Hunk] = []
    omitted, room = 0, LINES
    for group in _grouped(spans):
        hunk = _hunk(old, new, group)
        kept = hunk.lines[:room]
        omitted += len(hunk.lines) - len(kept)
        room -= len(kept)
        if kept:
            hunks.append(Hunk(above + hunk.old_start, above + hunk.new_start, kept))
    added = sum(d - c for _, _, c, d in spans)
    removed = sum(b - a for a, b, _, _ in spans)
    return Diff(path, tuple(hunks), added, removed, created, omitted)


def groups(before: str, after: str) -> tuple[tuple[Span, ...], ...]:
    """What each hunk of `diff` changes, hunk by hunk; lines are counted in the whole texts."""
    above, old, new = _middle(before, after)
    return tuple(
        tuple((above + a, above + b, above + c, above + d) for a, b, c, d in group)
        for group in _grouped(list(_spans(old, new)))
    )


def changed_lines(view: Diff) -> tuple[str, ...]:
    """The lines that go and come, without context and position: two changes with equal ones do the same."""
    return tuple(line for hunk in view.hunks for line in changes(hunk))


def changes(hunk: Hunk) -> tuple[str, ...]:
    """Its lines that go and come."""
    return tuple(line for line in hunk.lines if line[0] != " ")


def _middle(before: str, after: str) -> tuple[int, list[str], list[str]]:
    """How many lines stand above the part with the changes, and its lines in each text."""
    start, old_end, new_end = _bounds(before, after)
    ended = old_end < len(before)
    old, new = _lines(before[start:old_end], ended=ended), _lines(after[start:new_end], ended=ended)
    return before.count("\n", 0, start), old, new


def _bounds(before: str, after: str) -> tuple[int, int, int]:
    """Where the part with the changes and their context starts, and where it ends in each text, at line ends.

    Big texts are cut down to it before they are split: splitting 20 MB holds up every other thread for 0.1 s.
    """
    limit = min(len(before), len(after))
    head = _same(limit, lambda a, b: before[a:b] == after[a:b])
    tail = _same(
        limit - head, lambda a, b: before[len(before) - b : len(before) - a] == after[len(after) - b : len(after) - a]
    )
    start = before.rfind("\n", 0, head) + 1
    for _ in range(CONTEXT):
        start = before.rfind("\n", 0, max(0, start - 1)) + 1
    end = len(before) - tail
    for _ in range(CONTEXT + 1):
        found = before.find("\n", end)
        end = found + 1 if found >= 0 else len(before)
    return start, end, len(after) - (len(before) - end)


def _same(limit: int, equal: Callable[[int, int], bool]) -> int:
    """The greatest n up to `limit` with everything in [0, n) equal, found by halves."""
    low = 0
    step = 1 << 16
    while low < limit:
        high = min(limit, low + step)
        if equal(low, high):
            low = high
        elif step == 1:
            break
        else:
            step = max(1, step // 16)
    return low


def _lines(text: str, *, ended: bool) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    elif not ended:
        lines[-1] += "\n\\ no newline at the end of the file"
    return lines


def _spans(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    head, limit = 0, min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if not a and not b:
        return
    if len(a) + len(b) <= CAREFUL:
        for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag != "equal":
                yield head + i, head + j, head + k, head + m
    elif len(a) == len(b):
        yield from _pairwise(a, b, head)
    else:
        yield head, head + len(a), head, head + len(b)


def _pairwise(a: Sequence[str], b: Sequence[str], head: int) -> Iterator[Span]:
    """Line against line: right for a word replaced in very many places."""
    start = -1
    for at, same in enumerate([*(x == y for x, y in zip(a, b, strict=True)), True]):
        if same and start >= 0:
            yield head + start, head + at, head + start, head + at
            start = -1
        elif not same and start < 0:
            start = at


def _grouped(spans: Sequence[Span]) -> Iterator[list[Span]]:
    group: list[Span] = []
    for span in spans:
        if group and span[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _hunk(old: Sequence[str], new: Sequence[str], group: list[Span]) -> Hunk:
    first = max(0, group[0][0] - CONTEXT)
    new_first = group[0][2] - (group[0][0] - first)
    lines: list[str] = []
    at = first
    for a, b, c, d in group:
        lines += (" " + line for line in old[at:a])
        lines += ("-" + line for line in old[a : min(b, a + LINES)])
        lines += ("+" + line for line in new[c : min(d, c + LINES)])
        at = b
    lines += (" " + line for line in old[at : at + CONTEXT])
    return Hunk(first + 1, new_first + 1, tuple(_cut(line) for line in lines))


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[:WIDTH] + f"… ({len(line) - WIDTH:,} characters more)"
