"""The typing guard: a dialog that appears while someone types must not take a key that was not meant for it."""

from __future__ import annotations

from math import inf

QUIET = 0.4
"""Seconds in which a new dialog takes nothing but Esc."""
RECENT = 0.5
"""A key this many seconds before the dialog counts as still typing."""
PAUSE = 1.0
"""Seconds without a key after which someone who was typing has stopped."""


class Guard:
    """When keys begin to count. Times are seconds of one monotonic clock; before it is `shown` no key does."""

    def __init__(self) -> None:
        self.until = inf

    def shown(self, now: float, last_key: float) -> None:
        """The dialog stands on the screen since now; `last_key` is when a key was last pressed."""
        self.until = now + QUIET
        if now - last_key < RECENT:
            self.until = max(self.until, last_key + PAUSE)

    def takes(self, pressed: float) -> bool:
        """Whether a key pressed at this time is an answer; one that is not makes the dialog wait for a pause."""
        if pressed >= self.until:
            return True
        self.until = max(self.until, pressed + PAUSE)
        return False
