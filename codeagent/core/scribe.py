"""Puts the words of a reply on record while they come, so that a kill loses half a second of them at most."""

from __future__ import annotations

import asyncio
from io import StringIO

from codeagent.core.events import Heard, TextDelta, ThinkingDelta
from codeagent.core.journal import Journal

EVERY = 0.5
"""Seconds between two entries."""


class Scribe:
    """Writes down one reply in `Heard` entries; what is not written when it is stopped is dropped."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._words = StringIO()
        self._fresh: list[tuple[str, bool]] = []
        self._timer: asyncio.TimerHandle | None = None

    @property
    def words(self) -> str:
        """The answer so far, without thinking."""
        return self._words.getvalue()

    def hear(self, part: object) -> None:
        """Take note of a piece of the reply, if it is words."""
        if isinstance(part, TextDelta):
            self._words.write(part.text)
        elif not isinstance(part, ThinkingDelta):
            return
        self._fresh.append((part.text, isinstance(part, ThinkingDelta)))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._write)

    def restart(self) -> None:
        """The attempt is void."""
        self.stop()
        self._words = StringIO()

    def stop(self) -> None:
        """Nothing more is put on record: the reply itself is there, or void."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._fresh.clear()

    def _write(self) -> None:
        self._timer = None
        for thinking in (True, False):
            text = "".join(t for t, is_thinking in self._fresh if is_thinking is thinking)
            if text:
                self._journal.append(Heard(text, thinking))
        self._fresh.clear()
