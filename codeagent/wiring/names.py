"""The project's file names for completion: listed in a thread, so that no key waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

FRESH = 5.0
"""Seconds that a listing counts as new."""


class Names:
    """Answers at once with the latest listing, and begins a new one when that is old."""

    def __init__(self, listing: Callable[[], Sequence[str]]) -> None:
        self._listing = listing
        self._names: Sequence[str] | None = None
        self._at = -FRESH
        self._running = threading.Lock()

    def __call__(self) -> Sequence[str] | None:
        """Relative paths; None until the first listing is done."""
        if time.monotonic() - self._at >= FRESH and self._running.acquire(blocking=False):
            threading.Thread(target=self._list, name="names", daemon=True).start()
        return self._names

    def _list(self) -> None:
        try:
            self._names = tuple(self._listing())
            self._at = time.monotonic()
        except OSError:
            self._names = self._names or ()
            self._at = time.monotonic()
        finally:
            self._running.release()
