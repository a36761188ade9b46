"""The real time, and identifiers that are unique for practical purposes."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import SystemRandom

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_READABLE = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that are not mistaken for each other when read aloud or typed."""

_SYSTEM = SystemRandom()

Random = Callable[[int], int]
"""`random(n)` gives a whole number from 0 to n - 1."""


class SystemClock:
    """The machine's clock, in seconds."""

    def now(self) -> float:
        """Seconds since the epoch; may jump when the clock is set."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never run backwards; only differences mean anything."""
        return time.monotonic()


class RandomIds:
    """`new("turn")` gives `turn_` and 12 base32 characters: 60 random bits."""

    def __init__(self, random: Random = _SYSTEM.randrange) -> None:
        self._random = random

    def new(self, prefix: str) -> str:
        """A fresh identifier."""
        return f"{prefix}_{_letters(12, _BASE32, self._random)}"


def session_id(now: float, random: Random = _SYSTEM.randrange) -> str:
    """`20261129-142501-k3f9`: sorts by start (local time) and is short enough to type. `now` is in epoch seconds."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{_letters(4, _READABLE, random)}"


def _letters(count: int, alphabet: str, random: Random) -> str:
    return "".join(alphabet[random(len(alphabet))] for _ in range(count))
