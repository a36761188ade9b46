"""Why a text was not found: the lines that come nearest, and characters that cannot be seen. Pure, bounded in time."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

LINES = 12
"""Lines of the nearest place that are shown."""
WIDTH = 200
"""Characters shown of each; longer lines are also not compared letter by letter."""
BIG = 8 << 20
"""Characters of a text in which nothing near is looked for."""
_COMPARED = 3000
"""Lines compared letter by letter, at most: about 0.1 s."""
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]"
)


def explain_miss(text: str, old: str, new: str) -> str:
    """What to know when `old` is not in `text`; both with LF line ends."""
    words = []
    if len(text) > BIG:
        return "The file is too big to look for the nearest text; look for a part of it with grep."
    unseen = _unseen(text, old)
    if unseen:
        words.append(unseen)
    if new.strip() and len(new) > 3 and new in text:
        words.append(f"new_string is already there, in line {text.count(chr(10), 0, text.find(new)) + 1}.")
    lines = text.split("\n")
    wanted = old.strip("\n").split("\n")
    start = _nearest(lines, wanted)
    if start is None:
        words.append("No line of the file is like it. Read the file again.")
        return " ".join(words)
    end = min(len(lines), start + min(len(wanted), LINES))
    shown = "\n".join(f"{at + 1}\t{_cut(lines[at])}" for at in range(start, end))
    where = f"line {start + 1}" if end == start + 1 else f"lines {start + 1}-{end}"
    return " ".join([*words, f"The nearest text is in {where}:"]) + "\n" + shown


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[:WIDTH] + "…"


def _unseen(text: str, old: str) -> str:
    """Name the invisible character that makes the difference, if one does."""
    bare = _UNSEEN.sub("", old)
    if bare != old and bare in text:
        found = _UNSEEN.search(old)
        return f"old_string holds an unseen character: {_named(old, found.start())}." if found else ""
    for line in text.split("\n") if _UNSEEN.search(text) else ():
        found = _UNSEEN.search(line)
        if found and _UNSEEN.sub("", line).strip() and (_UNSEEN.sub("", line) in bare or bare in _UNSEEN.sub("", line)):
            at = text.index(line) + found.start()
            return f"The file holds an unseen character: {_named(text, at)}."
    return ""


def _named(text: str, at: int) -> str:
    char = text[at]
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'unnamed').lower()}) in line {line}, column {column}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The index of the line where the most alike place begins: by equal lines, else by the most alike line."""
    offsets: dict[str, list[int]] = {}
    for at, line in enumerate(wanted):
        if len(_squeezed(line)) > 2:
            offsets.setdefault(_squeezed(line), []).append(at)
    votes: Counter[int] = Counter()
    for at, line in enumerate(lines):
        for offset in offsets.get(_squeezed(line), ()) if len(line) <= 10 * WIDTH else ():
            votes[max(0, at - offset)] += 1
    if votes:
        best = max(votes.values())
        return min(at for at, count in votes.items() if count == best)
    return _most_alike(lines, wanted)


def _most_alike(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    target = next((line for line in wanted if line.strip()), "")[: 2 * WIDTH]
    offset = next((at for at, line in enumerate(wanted) if line.strip()), 0)
    if not target:
        return None
    matcher = SequenceMatcher(None, "", _squeezed(target), autojunk=False)
    best, where = 0.5, None
    candidates = [at for at, line in enumerate(lines) if line.strip() and len(line) <= 5 * WIDTH]
    cost = max(1, len(target)) * len(candidates)
    step = max(1, cost // (_COMPARED * WIDTH))
    for at in candidates[::step]:
        line = _squeezed(lines[at])
        if _squeezed(target) in line:
            return max(0, at - offset)
        matcher.set_seq1(line)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, where = ratio, max(0, at - offset)
    return where


def _squeezed(line: str) -> str:
    return "".join(line.split()).casefold()
