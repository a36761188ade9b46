"""The typing guard: a dialog that appears while someone types must not take a key that was not meant for it."""

from __future__ import annotations

QUIET = 0.4
"""Seconds in which a new dialog takes nothing but Esc."""
RECENT = 0.5
"""A key this many seconds before the dialog counts as still typing."""
PAUSE = 1.0
"""Seconds without a key after which someone who was typing has stopped."""


class Guard:
    """When keys begin to count. Times are seconds of one monotonic clock."""

    def __init__(self, shown: float, last_key: float) -> None:
        self.until = shown + QUIET
        if shown - last_key < RECENT:
            self.until = max(self.until, last_key + PAUSE)

    def takes(self, now: float) -> bool:
        """Whether a key pressed now is an answer; one that is not makes the dialog wait for a pause."""
        if now >= self.until:
            return True
        self.until = max(self.until, now + PAUSE)
        return False
