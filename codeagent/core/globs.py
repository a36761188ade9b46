"""Path patterns with the shell's meaning, as regular expressions that match in linear time.

`*` and `?` stay within a name, `**` crosses folders, `[a-z]`, `[!a]` and `[^a]` are classes,
`{a,b}` are alternatives, a backslash makes the next character literal, dot files are ordinary.
Each `*` and each `**` is closed in an atomic group around the text that follows it: the leftmost
place is always good enough, so nothing is tried twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

ALTERNATIVES = 500
"""Most alternatives that braces may unfold to."""
LONGEST = 10_000
"""Characters of a pattern; a path has 4,096 at most, and longer ones would take seconds to read."""

_NAME = "[^/]"
_META = re.compile(r"[*?\[{\\]")


class BadPattern(ValueError):
    """The pattern cannot be read; the message says why."""


def matcher(pattern: str) -> Callable[[str], object]:
    """A function that answers whether a path relative to the pattern's root matches. Raises BadPattern."""
    every = expand(pattern)
    match = re.compile("|".join(f"(?:{translate(each)})" for each in every), re.DOTALL).fullmatch
    tails = tuple(_tail(each) for each in every)
    if not all(tails):
        return match
    return lambda path: path.endswith(tails) and match(path)  # four times as fast for the paths that do not match


def _tail(pattern: str) -> str:
    """The plain characters at the end of a pattern: every path that matches ends in them."""
    return pattern[1 + max(map(pattern.rfind, "*?[]{}\\/")) :]


def is_literal(segment: str) -> bool:
    """Whether a path segment means only itself."""
    return not _META.search(segment)


def expand(pattern: str) -> list[str]:
    """The alternatives that the braces stand for, in order. Braces without a comma are literal."""
    if len(pattern) > LONGEST:
        raise BadPattern(f"more than the {LONGEST:,} characters possible")
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        now = waiting.pop(0)
        found = _braces(now)
        if found is None:
            done.append(now)
        else:
            start, end, options = found
            waiting[:0] = [now[:start] + option + now[end:] for option in options]
        if len(done) + len(waiting) > ALTERNATIVES:
            raise BadPattern(f"the braces stand for more than {ALTERNATIVES} alternatives")
    return done


def _braces(pattern: str) -> tuple[int, int, list[str]] | None:
    """The first `{..,..}`: where it starts and ends, and its options."""
    opened: list[tuple[int, list[int]]] = []
    best: tuple[int, int, list[str]] | None = None
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            if commas and (best is None or start < best[0]):
                cuts = [start, *commas, at]
                best = start, at + 1, [pattern[a + 1 : b] for a, b in pairwise(cuts)]
            if best and not opened:
                return best
        at += 1
    return best


def translate(pattern: str, *, lenient: bool = False) -> str:
    """One alternative as a regular expression for `fullmatch`.

    An unclosed class is a literal bracket, as in a shell; `lenient`, as in ignore files, it matches nothing.
    """
    segments = [s for at, s in enumerate(pattern.split("/")) if s or at == 0]
    chunks: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            chunks.append([])
        else:
            chunks[-1].append(_segment(segment, lenient=lenient))
    if len(chunks) == 1:
        return "/".join(chunks[0])
    head, *middle, tail = chunks
    out = "".join(part + "/" for part in head)
    for chunk in middle:
        if chunk:
            out += f"(?>(?:{_NAME}+/)*?" + "".join(part + "/" for part in chunk) + ")"
    return out + f"(?:{_NAME}+/)*?" + ("/".join(tail) if tail else f"{_NAME}+")


def _segment(segment: str, *, lenient: bool) -> str:
    parts: list[str] = [""]
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            if parts[-1] or len(parts) == 1:
                parts.append("")
        elif char == "?":
            parts[-1] += _NAME
        elif char == "[":
            text, at = _class(segment, at, lenient=lenient)
            parts[-1] += text
        elif char == "\\" and at < len(segment):
            parts[-1] += re.escape(segment[at])
            at += 1
        else:
            parts[-1] += re.escape(char)
    first, *rest = parts
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>{_NAME}*?{part})" for part in middle if part) + f"{_NAME}*" + last


_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _class(segment: str, at: int, *, lenient: bool) -> tuple[str, int]:
    """A class from after its `[`: the regular expression and the position after its `]`."""
    negated = segment[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = at
    while at < len(segment) and (segment[at] != "]" or at == first):
        if segment.startswith("[:", at) and (end := segment.find(":]", at)) > 0:
            name = segment[at + 2 : end]
            if name not in _POSIX:
                return "(?!)", len(segment)
            items.append(_POSIX[name])
            at = end + 2
            continue
        low, at = _char(segment, at)
        if segment[at : at + 1] == "-" and segment[at + 1 : at + 2] not in ("", "]"):
            high, at = _char(segment, at + 1)
            if low <= high:
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            items.append(re.escape(low))
    if at >= len(segment):
        if lenient:
            return "(?!)", at
        return r"\[", first - negated
    if not items:
        return (_NAME if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{''.join(items)}]", at + 1


def _char(segment: str, at: int) -> tuple[str, int]:
    if segment[at] == "\\" and at + 1 < len(segment):
        at += 1
    return segment[at], at + 1
