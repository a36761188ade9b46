"""Keys that count when they are pressed twice: the first press shows a hint and holds as long as that stands."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

LEAVES = 1.5
"""Seconds within which a second press leaves: 0.8 was over for those who read the hint before they went on."""
CLEARS = 1.0
"""The same for Esc, which people also press twice just to be sure."""


class Twice:
    """`hint` shows words for some seconds; empty words take them away."""

    def __init__(self, hint: Callable[[str, float], None], now: Callable[[], float] = monotonic) -> None:
        self._hint, self._now = hint, now
        self._first: tuple[str, str] | None = None
        self._until = 0.0

    def pressed(self, key: str, draft: str, hint: str, within: float) -> bool:
        """Whether this is the second press of the key over this draft."""
        if self._first == (key, draft) and self._now() < self._until:
            self._forget()  # a third press begins anew
            return True
        self._first, self._until = (key, draft), self._now() + within
        self._hint(hint, within)
        return False

    def stands(self, draft: str) -> None:
        """The draft is this now: a first press over another one counts no more."""
        if self._first and self._first[1] != draft:
            self._forget()

    def _forget(self) -> None:
        if self._now() < self._until:
            self._hint("", 0.0)
        self._first = None
