"""Who may start: so many at once, and the first of several with one prefix before the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Starts:
    """A provider's cache holds a prefix as soon as the first reply to it begins; who starts later is served from it."""

    MOST = 10
    """At once, on each level: one that waits for its own sub-agents keeps its place, and must not keep theirs."""

    def __init__(self) -> None:
        self._first: dict[str, asyncio.Event] = {}
        self._places: dict[int, asyncio.Semaphore] = {}

    def place(self, level: int) -> asyncio.Semaphore:
        """To be entered for as long as one of this level works."""
        return self._places.setdefault(level, asyncio.Semaphore(self.MOST))

    @asynccontextmanager
    async def turn(self, prefix: str) -> AsyncIterator[Callable[[], None]]:
        """Wait while another with this prefix waits for its first words; call what is given when they come.

        An empty prefix waits for nobody.
        """
        if not prefix:
            yield _nothing
            return
        begun = self._first.get(prefix)
        if begun is not None:
            await begun.wait()
            yield begun.set
            return
        begun = self._first[prefix] = asyncio.Event()
        try:
            yield begun.set
        finally:
            begun.set()
            self._first.pop(prefix, None)


def _nothing() -> None:
    """Nobody waits."""
