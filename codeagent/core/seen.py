"""What the model has seen and where its shell stands: a fold of the journal that tools consult."""

from __future__ import annotations

from collections.abc import Iterable

from codeagent.core.events import NOT_LOADED, Compacted, Earlier, Entry, Event, Rewound, Saw, ToolFinished


class Seen:
    """Per file the latest sight of it; the shell's working directory.

    `latest(path)` answers "was it read, and with which bytes?"; `shown(...)` answers "does the
    context still hold exactly this?", which a compaction or a rewind makes false.
    """

    def __init__(self, entries: Iterable[Entry] = (), cwd: str = "") -> None:
        self.cwd = cwd
        self._latest: dict[str, Saw] = {}
        self._in_context: dict[str, list[Saw]] = {}
        for entry in entries:
            if entry is not NOT_LOADED:
                self.see(entry)

    def see(self, event: Event) -> None:
        """Take note of an event; to be registered as a journal's watcher."""
        if isinstance(event, ToolFinished | Earlier):
            for saw in event.saw:
                self.note(saw)
            if event.cwd:
                self.cwd = event.cwd
        elif isinstance(event, Compacted | Rewound):
            self._in_context.clear()

    def note(self, saw: Saw) -> None:
        """Remember one sight."""
        self._latest.pop(saw.path, None)  # so that the order is that of the latest sights
        self._latest[saw.path] = saw
        sights = self._in_context.setdefault(saw.path, [])
        if sights and sights[-1].digest != saw.digest:
            sights.clear()
        if not saw.wrote:
            sights.append(saw)

    def latest(self, path: str) -> Saw | None:
        """The last sight of this file, if any; `path` is absolute and resolved."""
        return self._latest.get(path)

    def shown(self, path: str, digest: str, first: int, last: int) -> bool:
        """Whether the context still holds exactly these lines of exactly these bytes."""
        return any(s.digest == digest and s.first == first and s.last == last for s in self._in_context.get(path, ()))

    def recent(self) -> tuple[str, ...]:
        """Files seen or written, the latest last."""
        return tuple(self._latest)
