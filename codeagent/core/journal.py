"""Append-only memory of a session, and the only fan-out to those who watch it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from codeagent.core.events import Entry, Event, Fact


def _forget(entry: Entry) -> None:
    """Write nothing: a session that is not kept."""


def _as_it_is(event: Event) -> Iterable[Event]:
    """Withhold nothing."""
    return (event,)


class Journal:
    """The one truth. Appending an entry writes it, remembers it, then shows it; a signal is only shown.

    `entries[i]` has sequence number i. `write` may raise SessionError; then the entry is neither
    remembered nor shown. `tell` gives what may be known of an event now, without our secrets: none, one or more.
    """

    def __init__(
        self,
        entries: Sequence[Entry] = (),
        write: Callable[[Entry], None] = _forget,
        tell: Callable[[Event], Iterable[Event]] = _as_it_is,
    ) -> None:
        self.entries: list[Entry] = list(entries)
        self._write = write
        self._tell = tell
        self._watchers: list[Callable[[Event], None]] = []

    def watch(self, see: Callable[[Event], None]) -> None:
        """Show every later event to `see`, which must return at once."""
        self._watchers.append(see)

    def append(self, event: Event) -> None:
        """Record what is to be remembered, then show it."""
        for told in self._tell(event):
            if isinstance(told, Fact):
                self._write(told)
                self.entries.append(told)
            for see in self._watchers:
                see(told)
