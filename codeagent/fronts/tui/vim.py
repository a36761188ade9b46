"""Vim's keys for the composer: normal and insert mode, motions, counts, d c y with a motion. Knows no screen.

Only what is written in a few lines of prose needs: no visual mode, no registers but one, no ex commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

_WORD = re.compile(r"\w+|[^\w\s]+")


class Draft(Protocol):
    """What is edited: a text, a place in it, and one step back."""

    def place(self) -> tuple[str, int]: ...
    def change(self, text: str, at: int) -> None: ...
    def undo(self) -> None: ...


class Spot(Struct, frozen=True):
    """Where a motion leads; `inclusive` ones take the character there along, `lines` whole lines."""

    at: int
    inclusive: bool = False
    lines: bool = False


def _line(text: str, at: int) -> tuple[int, int]:
    """Begin and end of the line of this place, without its line break."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def _next_word(text: str, at: int) -> Spot:
    return Spot(next((m.start() for m in _WORD.finditer(text) if m.start() > at), len(text)))


def _word_end(text: str, at: int) -> Spot:
    return Spot(next((m.end() - 1 for m in _WORD.finditer(text) if m.end() - 1 > at), max(0, len(text) - 1)), True)


def _word_before(text: str, at: int) -> Spot:
    return Spot(max((m.start() for m in _WORD.finditer(text) if m.start() < at), default=0))


def _vertical(text: str, at: int, by: int) -> Spot:
    start, end = _line(text, at)
    column = at - start
    other = start - 1 if by < 0 else end + 1
    if not 0 <= other <= len(text):
        return Spot(at, lines=True)
    start, end = _line(text, other)
    return Spot(min(start + column, end), lines=True)


def _first_letter(text: str, at: int) -> Spot:
    start, end = _line(text, at)
    return Spot(start + len(text[start:end]) - len(text[start:end].lstrip()))


MOTIONS: dict[str, Callable[[str, int], Spot]] = {
    "h": lambda text, at: Spot(max(_line(text, at)[0], at - 1)),
    "l": lambda text, at: Spot(min(_line(text, at)[1], at + 1)),
    "j": lambda text, at: _vertical(text, at, 1),
    "k": lambda text, at: _vertical(text, at, -1),
    "w": _next_word,
    "b": _word_before,
    "e": _word_end,
    "0": lambda text, at: Spot(_line(text, at)[0]),
    "^": _first_letter,
    "$": lambda text, at: Spot(_line(text, at)[1]),
    "G": lambda text, _at: Spot(len(text), lines=True),
    "gg": lambda _text, _at: Spot(0, lines=True),
}

WHOLE = {"D": "d$", "C": "c$", "Y": "yy", "x": "dl", "X": "dh", "s": "cl", "S": "cc"}
"""Letters that stand for others."""


class Vim:
    """Takes keys while in normal mode. Begins in insert mode."""

    def __init__(self) -> None:
        self.normal = False
        self._typed = ""
        self._kept = ""

    def key(self, character: str, draft: Draft) -> bool:
        """A typed character; whether it was taken. In insert mode none is."""
        if not self.normal:
            return False
        self._typed += character
        count = re.match(r"[1-9]\d*", self._typed)
        words = self._typed[count.end() :] if count else self._typed
        if words in WHOLE:
            words = WHOLE[words]
        if words in ("", "g") or (words[:1] in "dcy" and words[1:] in ("", "g")):
            return True
        self._typed = ""
        for _ in range(min(int(count[0]) if count else 1, 1000)):
            self._do(words, draft)
        return True

    def escape(self, draft: Draft) -> bool:
        """Esc: to normal mode; whether that was news."""
        self._typed = ""
        if self.normal:
            return False
        self.normal = True
        text, at = draft.place()
        draft.change(text, max(_line(text, at)[0], at - 1))
        return True

    def _do(self, words: str, draft: Draft) -> None:
        text, at = draft.place()
        if words in MOTIONS:
            draft.change(text, MOTIONS[words](text, at).at)
        elif words == "u":
            draft.undo()
        elif words in ("p", "P"):
            self._put(text, at, draft, before=words == "P")
        elif words in ("i", "a", "I", "A", "o", "O"):
            self._insert(words, text, at, draft)
        elif words[0] in "dcy" and (span := self._span(words, text, at)):
            self._operate(words[0], text, *span, draft)

    def _span(self, words: str, text: str, at: int) -> tuple[int, int, bool] | None:
        """What an operator works on: begin, end, and whether it is whole lines."""
        motion = words[1:]
        start, end = _line(text, at)
        if motion == words[0]:
            return start, end, True
        if motion not in MOTIONS:
            return None
        spot = MOTIONS["e" if words == "cw" else motion](text, at)
        low, high = sorted((at, spot.at))
        if spot.lines:
            return _line(text, low)[0], _line(text, high)[1], True
        return low, high + spot.inclusive, False

    def _operate(self, operator: str, text: str, low: int, high: int, lines: bool, draft: Draft) -> None:
        self._kept = text[low:high] + ("\n" if lines else "")
        if operator == "y":
            return
        if lines and operator == "d":
            high = min(len(text), high + 1)
            low = low - 1 if high == len(text) and low else low
        draft.change(text[:low] + text[high:], low)
        self.normal = operator != "c"

    def _put(self, text: str, at: int, draft: Draft, *, before: bool) -> None:
        if self._kept.endswith("\n"):
            start, end = _line(text, at)
            if before:
                draft.change(text[:start] + self._kept + text[start:], start)
            else:
                draft.change(f"{text[:end]}\n{self._kept[:-1]}{text[end:]}", end + 1)
        elif self._kept:
            place = at if before else min(len(text), at + 1)
            draft.change(text[:place] + self._kept + text[place:], place + len(self._kept) - 1)

    def _insert(self, words: str, text: str, at: int, draft: Draft) -> None:
        start, end = _line(text, at)
        if words in "oO":
            text = f"{text[:end]}\n{text[end:]}" if words == "o" else f"{text[:start]}\n{text[start:]}"
            at = end + 1 if words == "o" else start
        else:
            at = {"i": at, "a": min(end, at + 1), "I": _first_letter(text, at).at, "A": end}[words]
        draft.change(text, at)
        self.normal = False
