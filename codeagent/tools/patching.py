"""Find and replace, pure: exact first, then bounded looser readings of `old`, each only if it is the only hit.

The rungs: the text itself; a newline missing at the end of the file; pasted line numbers; typographic
equals (quotes, dashes, blanks, composed letters); blanks at line ends; one uniform re-indentation.
Nothing else: no similarity, no anchors, no blanks inside a line. What stays the same inside a hit
keeps the file's own characters and line ends; new lines end as the lines around them do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codeagent.tools.reading_loosely import RUNGS, Hit

LOOSE = 8 << 20
"""Characters of a file up to which looser readings are tried: they take about 0.2 s for each million."""
HITS = 10_000
"""Hits that are counted when a text is not unique."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replace `old` by `new`: the one place where it is, or `everywhere`."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Patched:
    """The new text; `rungs` names the looser readings that were needed; `hits` counts what was replaced."""

    text: str
    rungs: tuple[str, ...]
    hits: int


class Missed(Exception):
    """A change cannot be made. `at` is its index, `lines` are the hits' 1-based lines, `text` is what was searched."""

    def __init__(self, kind: str, at: int, text: str, lines: Sequence[int] = (), rung: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.at = at
        self.text = text
        self.lines = tuple(lines)
        self.rung = rung


def patch(text: str, changes: Sequence[Change]) -> Patched:
    """Make the changes in order, all or none. Raises Missed: not_found, not_unique or no_change."""
    rungs: list[str] = []
    hits = 0
    for at, change in enumerate(changes):
        old, new = unix(change.old), unix(change.new)
        if old == new:
            raise Missed("no_change", at, text)
        view = View(text)
        if change.everywhere:
            starts = list(_disjoint(view.text, old))
            text = view.replace_all(starts, old, new)
            if not starts:
                raise Missed("not_found", at, text)
            hits += len(starts)
            continue
        hit, rung = _find(view, old, new, at)
        text = view.replace(hit)
        hits += 1
        if rung:
            rungs.append(rung)
    return Patched(text, tuple(dict.fromkeys(rungs)), hits)


def unix(text: str) -> str:
    """The text with LF line ends; a lone CR is an ordinary character."""
    return text.replace("\r\n", "\n")


class View:
    """A text seen with LF line ends, and where each place of it lies in the text itself."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.text = unix(source)
        self._crlf: list[int] = []
        if len(self.text) != len(source):
            parts = source.split("\r\n")
            at = 0
            for part in parts[:-1]:
                at += len(part)
                self._crlf.append(at)
                at += 1

    def place(self, at: int) -> int:
        """The position in the source of a position in the view."""
        return at + bisect_left(self._crlf, at)

    def line(self, at: int) -> int:
        """The 1-based line of a position in the view."""
        return self.text.count("\n", 0, at) + 1

    def replace(self, hit: Hit) -> str:
        """The source with this hit replaced."""
        return self.source[: self.place(hit.edges[0])] + self._merged(hit) + self.source[self.place(hit.edges[-1]) :]

    def replace_all(self, starts: Sequence[int], old: str, new: str) -> str:
        """The source with every one of these exact hits replaced."""
        if not self._crlf:
            return self.source.replace(old, new)
        out: list[str] = []
        at = 0
        for start in starts:
            out.append(self.source[at : self.place(start)])
            out.append(self._merged(Hit(range(start, start + len(old) + 1), old, new)))
            at = self.place(start + len(old))
        return "".join(out) + self.source[at:]

    def _merged(self, hit: Hit) -> str:
        """`new`, with the source's own characters wherever `new` says the same as `old`."""
        if not self._crlf and isinstance(hit.edges, range):
            return hit.new
        out = []
        for i, j, k, m in _opcodes(hit.old, hit.new):
            if hit.old[i:j] == hit.new[k:m]:
                out.append(self.source[self.place(hit.edges[i]) : self.place(hit.edges[j])])
            else:
                end = self._newline(hit.edges[i], inserted=i == j)
                out.append(hit.new[k:m].replace("\n", end))
        return "".join(out)

    def _newline(self, at: int, *, inserted: bool) -> str:
        """How a new line ends at this place: as the line before it when put between lines, else as its own line."""
        if not self._crlf:
            return "\n"
        if inserted and at and self.text[at - 1] == "\n":
            return self._end(at - 1)
        after = self.text.find("\n", at)
        return self._end(after if after >= 0 else self.text.rfind("\n", 0, at))

    def _end(self, at: int) -> str:
        found = bisect_left(self._crlf, at)
        return "\r\n" if found < len(self._crlf) and self._crlf[found] == at else "\n"


def _find(view: View, old: str, new: str, at: int) -> tuple[Hit, str]:
    starts = list(_overlapping(view.text, old))
    if len(starts) > 1:
        raise Missed("not_unique", at, view.text, [view.line(s) for s in starts])
    if starts:
        return Hit(range(starts[0], starts[0] + len(old) + 1), old, new), ""
    if len(view.text) <= LOOSE:
        for rung, search in RUNGS.items():
            hits = search(view.text, old, new)
            if len(hits) > 1:
                raise Missed("not_unique", at, view.text, [view.line(h.edges[0]) for h in hits], rung)
            if hits:
                return hits[0], rung
    raise Missed("not_found", at, view.text)


def _overlapping(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    for _ in range(HITS):
        if at < 0:
            return
        yield at
        at = text.find(old, at + 1)


def _disjoint(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


def _opcodes(old: str, new: str) -> Iterator[tuple[int, int, int, int]]:
    """How `old` becomes `new`, line by line, and within changed lines piece by piece; as character ranges."""
    a, b = _kept(old), _kept(new)
    starts_a, starts_b = _starts(a), _starts(b)
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        span = starts_a[i], starts_a[j], starts_b[k], starts_b[m]
        if tag == "replace":
            yield from _pieces(old, new, *span)
        else:
            yield span


def _pieces(old: str, new: str, i: int, j: int, k: int, m: int) -> Iterator[tuple[int, int, int, int]]:
    """The same within one run of changed lines: equal ends, and words between them where it is short."""
    head = 0
    while i + head < j and k + head < m and old[i + head] == new[k + head]:
        head += 1
    tail = 0
    while i + head < j - tail and k + head < m - tail and old[j - 1 - tail] == new[m - 1 - tail]:
        tail += 1
    yield i, i + head, k, k + head
    a, b = old[i + head : j - tail], new[k + head : m - tail]
    if len(a) + len(b) <= 2000:
        for _, p, q, r, s in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            yield i + head + p, i + head + q, k + head + r, k + head + s
    else:
        yield i + head, j - tail, k + head, m - tail
    yield j - tail, j, m - tail, m


def _kept(text: str) -> list[str]:
    """Lines with their LF."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
