"""Writes a session's entries; the log begins with the first message, so that no empty session is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codeagent.core.events import Entry, UserSaid
from codeagent.sessions.store import Log


class Keeper:
    """The pen of one session.

    `path` is None for a session that is not kept; `log` is one that is open already; `ready` makes
    the directory fit for a new log; `key` seals its lines.
    """

    def __init__(
        self,
        path: Path | None,
        now: Callable[[], float],
        log: Log | None = None,
        ready: Callable[[], None] | None = None,
        key: bytes = b"",
    ) -> None:
        self._path, self._now, self._log, self._ready, self._key = path, now, log, ready, key
        self._waiting: list[Entry] = []
        self._notice: Callable[[str], None] = _silent
        if log is not None:
            log.notice = self._tell

    @property
    def kept(self) -> bool:
        """Whether there is something to come back to."""
        return self._log is not None

    @property
    def name(self) -> str:
        """The session's id."""
        return self._path.stem if self._path else ""

    def watch(self, notice: Callable[[str], None]) -> None:
        """Tell of trouble with the disk here."""
        self._notice = notice

    def append(self, entry: Entry) -> None:
        """Write an entry, or keep it until the first message makes the session worth a file."""
        if self._path is None:
            return
        if self._log is not None:
            self._log.append(entry)
            return
        self._waiting.append(entry)
        if isinstance(entry, UserSaid):
            if self._ready is not None:
                self._ready()
            self._log = Log.create(self._path, self._now, self._key)
            self._log.notice = self._tell
            for waiting in self._waiting:
                self._log.append(waiting)
            self._waiting.clear()

    def close(self) -> None:
        """Write what waits, sync, and let others open the log."""
        if self._log is not None:
            self._log.close()

    def _tell(self, words: str) -> None:
        self._notice(words)


def _silent(_words: str) -> None:
    """Before a front is there."""
