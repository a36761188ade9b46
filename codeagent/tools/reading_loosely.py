"""Looser readings of a text that is not there as such: each one bounded, and each one all or nothing."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where `old` is. `edges[i]` is where `old[i:]` begins in the text; one more edge for the end.

    `old` and `new` are as this reading understands them (without line numbers, re-indented).
    """

    edges: Sequence[int]
    old: str
    new: str


Search = Callable[[str, str, str], list[Hit]]
"""From text, old and new to the hits, of which the second is enough to know that it is not unique."""


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text made simpler; `edges[i]` is where its i-th character begins in the original, one more for the end."""

    text: str
    edges: Sequence[int]


def _exact(text: str, old: str, new: str) -> list[Hit]:
    starts = []
    at = text.find(old) if old else -1
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + 1)
    return [Hit(range(s, s + len(old) + 1), old, new) for s in starts]


def without_last_newline(text: str, old: str, new: str) -> list[Hit]:
    """`old` ends in a newline that the file's last line lacks."""
    bare = old.removesuffix("\n")
    if bare == old or not bare.strip() or not text.endswith(bare) or text.endswith("\n"):
        return []
    start = len(text) - len(bare)
    return [Hit([*range(start, len(text) + 1), len(text)], old, new)]


_NUMBERED = re.compile(r"[ ]*(\d+)(?:\t|→|[|] ?|: )(.*)", re.DOTALL)


def without_numbers(text: str, old: str, new: str) -> list[Hit]:
    """`old` was pasted with the line numbers that `read` shows, each one more than the one before."""
    bare = _unnumbered(old)
    if bare is None or not bare.strip():
        return []
    other = _unnumbered(new)
    return _exact(text, bare, new if other is None else other)


def _unnumbered(text: str) -> str | None:
    lines = text.split("\n")
    last = [lines.pop()] if lines[-1] == "" else []
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    found = [m for m in matches if m]
    if not found or len(found) != len(lines):
        return None
    first = int(found[0][1])
    if any(int(m[1]) != first + at for at, m in enumerate(found)):
        return None
    return "\n".join([m[2] for m in found] + last)


_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys(
        "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    )
)


def typographic(text: str, old: str, new: str) -> list[Hit]:
    """Quotes, dashes, blanks and composed letters that look the same."""
    if text.isascii() and old.isascii():
        return []
    return _folded_hits(_plain(text), _plain(old), old, new)


def _plain(text: str) -> _Folded:
    simple = text.translate(_PLAIN)
    if unicodedata.is_normalized("NFC", simple):
        return _Folded(simple, range(len(simple) + 1))
    out: list[str] = []
    edges: list[int] = []
    for match in re.finditer(r"[\x00-\x7f]+(?![^\x00-\x7f])|.[^\x00-\x7f]*", simple, re.DOTALL):
        piece = match.group()
        if piece.isascii():
            out.append(piece)
            edges.extend(range(match.start(), match.end()))
        else:
            _compose(piece, match.start(), out, edges)
    return _Folded("".join(out), [*edges, len(simple)])


def _compose(piece: str, at: int, out: list[str], edges: list[int]) -> None:
    """Letter by letter with its marks, so that each composed letter knows where it began."""
    start = 0
    while start < len(piece):
        end = start + 1
        while end < len(piece) and _joins(piece[start:end], piece[end]):
            end += 1
        whole = unicodedata.normalize("NFC", piece[start:end])
        out.append(whole)
        edges.extend([at + start] * len(whole))
        start = end


def _joins(before: str, char: str) -> bool:
    return unicodedata.combining(char) > 0 or len(unicodedata.normalize("NFC", before + char)) <= len(
        unicodedata.normalize("NFC", before)
    )


_TRAILING = re.compile(r"[ \t]+(?=\n|\Z)")


def without_trailing_blanks(text: str, old: str, new: str) -> list[Hit]:
    """Blanks at line ends differ."""
    bare = _TRAILING.sub("", old)
    if not bare.strip() or (bare == old and not _TRAILING.search(text)):
        return []
    hits = _folded_hits(_trimmed(text), _trimmed(old), old, new)
    if old[-1:] in (" ", "\t"):
        hits = [h for h in hits if re.compile(r"[ \t]*(?:\n|\Z)").match(text, h.edges[-1])]
    return hits


def _trimmed(text: str) -> _Folded:
    """Without the blanks before line ends, which count as part of the line end."""
    out: list[str] = []
    edges: list[int] = []
    at = 0
    for match in _TRAILING.finditer(text):
        out.append(text[at : match.start()])
        edges.extend(range(at, match.start() + 1))
        at = match.end() + 1
        out.append(text[match.end() : at])
    out.append(text[at:])
    edges.extend(range(at, len(text) + 1))
    return _Folded("".join(out), edges)


def _folded_hits(text: _Folded, simple: _Folded, old: str, new: str) -> list[Hit]:
    """Where the simpler `old` is in the simpler text; never from or into the middle of a composed letter."""
    hits: list[Hit] = []
    at = text.text.find(simple.text)
    while at >= 0 and len(hits) < 100:
        end = at + len(simple.text)
        edges = text.edges
        whole = (at == 0 or edges[at] != edges[at - 1]) and (end >= len(text.text) or edges[end] != edges[end - 1])
        if whole:
            hits.append(Hit([edges[at + _index(simple.edges, i)] for i in range(len(old) + 1)], old, new))
        at = text.text.find(simple.text, at + 1)
    return hits


def _index(edges: Sequence[int], place: int) -> int:
    """The first simpler character that begins at or last before this place of the original."""
    return bisect_left(edges, edges[bisect_right(edges, place) - 1])


_INDENT = re.compile(r"[ \t]*")


def reindented(text: str, old: str, new: str) -> list[Hit]:
    """Whole lines that differ from `old` in one uniform way: a margin added or dropped, or tabs for blanks."""
    wanted = old.split("\n")
    partial = [] if wanted[-1] else [wanted.pop()]
    bare = [line.lstrip(" \t") for line in wanted]
    if not any(bare):
        return []
    lines = text.split("\n")
    stripped = [line.lstrip(" \t") for line in lines]
    anchor = next(at for at, line in enumerate(bare) if line)
    starts = _line_starts(lines)
    hits: list[Hit] = []
    for found, line in enumerate(stripped):
        first = found - anchor
        last = first + len(bare)
        if line != bare[anchor] or first < 0 or last > len(lines) or stripped[first:last] != bare:
            continue
        if partial and last >= len(lines):
            continue
        other = _reindent(wanted, lines[first:last], new)
        if other is not None:
            there = text[starts[first] : starts[last] - (0 if partial else 1)]
            hits.append(Hit(range(starts[first], starts[first] + len(there) + 1), there, other))
    return hits


def _line_starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _reindent(wanted: Sequence[str], there: Sequence[str], new: str) -> str | None:
    """`new` with the margins of the file, or None when no single rule explains all lines."""
    pairs = {(_margin(a), _margin(b)) for a, b in zip(wanted, there, strict=True) if a.strip()}
    for rule in _rules(pairs):
        if all(rule(a) == b for a, b in pairs):
            lines = []
            for line in new.split("\n"):
                margin = rule(_margin(line)) if line.strip() else _margin(line)
                if margin is None:
                    return None
                lines.append(margin + line[len(_margin(line)) :])
            return "\n".join(lines)
    return None


def _margin(line: str) -> str:
    match = _INDENT.match(line)
    return match.group() if match else ""


Rule = Callable[[str], str | None]


def _rules(pairs: set[tuple[str, str]]) -> list[Rule]:
    """The rules that could explain these pairs of margins: a prefix more, a prefix less, another unit."""
    old, there = min(pairs, key=lambda pair: len(pair[0]))
    rules: list[Rule] = []
    if there.endswith(old):
        more = there[: len(there) - len(old)]
        rules.append(lambda margin: more + margin)
    if old.endswith(there):
        less = old[: len(old) - len(there)]
        rules.append(lambda margin: margin.removeprefix(less) if margin.startswith(less) else None)
    rules += [_unit(a, b) for n in (4, 2, 8, 3) for a, b in ((" " * n, "\t"), ("\t", " " * n))]
    rules += [_unit(" " * n, " " * m) for n in (2, 4, 8) for m in (4, 2, 8) if n != m]
    return rules


def _unit(old: str, there: str) -> Rule:
    def rule(margin: str) -> str | None:
        depth, rest = divmod(len(margin), len(old))
        return there * depth if not rest and margin == old * depth else None

    return rule


RUNGS: dict[str, Search] = {
    "newline at the end of the file": without_last_newline,
    "line numbers removed": without_numbers,
    "typographic characters": typographic,
    "trailing blanks": without_trailing_blanks,
    "indentation": reindented,
}
"""The readings in the order in which they are tried, by the name that the result gives them."""
