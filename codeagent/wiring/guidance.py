"""The guidelines in force: told at the start, and again as they change or come into force by what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.core.events import Entry, Event, Noted, ToolFinished
from codeagent.memory import instructions

CHANGED = "Guidelines changed or came into force; the model was told."


class Guidance:
    """Holds them as last read. With `nested`, those below the working directory count once a file there was read."""

    def __init__(self, guidelines: instructions.Guidelines, project: Path, home: Path, *, nested: bool) -> None:
        self.guidelines = guidelines
        self._project, self._home, self._nested = project, home, nested
        self._read: set[str] = set()

    def see(self, event: Event) -> None:
        """Take note of what was read."""
        if isinstance(event, ToolFinished) and self._nested:
            self._read.update(saw.path for saw in event.saw)

    def in_force(self) -> Noted:
        """The files in force, by name, for a person."""
        names = [self._short(Path(each.path)) for each in self.guidelines.files]
        words = f"Guidelines: {', '.join(names)}" if names else ""
        return Noted(words, to="person", topic="guidelines", digest=self._digests())

    def since(self, entries: Sequence[Entry]) -> Iterator[Noted]:
        """What changed since a session was left, for its model."""
        told = next(
            (e for e in reversed(entries) if isinstance(e, Noted) and e.topic == "guidelines" and e.digest), None
        )
        known = json.loads(told.digest) if told else {}
        for path in known:
            self.guidelines = instructions.nested(self.guidelines, Path(path))
        before = instructions.Guidelines(
            tuple(instructions.Guideline(path, "", digest) for path, digest in known.items()),
            (),
            (),
            self.guidelines.request,
        )
        yield from self._told(instructions.changes(before, self.guidelines))

    def news(self) -> Iterator[Noted]:
        """What changed, or came into force by what was read, since the last look."""
        now = instructions.recheck(self.guidelines)
        for path in sorted(self._read):
            now = instructions.nested(now, Path(path))
        self._read.clear()
        if now is self.guidelines:
            return
        changed = instructions.changes(self.guidelines, now)
        self.guidelines = now
        yield from self._told(changed)
        if changed:
            yield Noted(CHANGED, to="person", topic="guidelines")

    def _told(self, changes: Sequence[str]) -> Iterator[Noted]:
        for words in changes:
            yield Noted(words, to="model", topic="guidelines", digest=self._digests())

    def _digests(self) -> str:
        return json.dumps({each.path: each.digest for each in self.guidelines.files})

    def _short(self, path: Path) -> str:
        if path.is_relative_to(self._project):
            return str(path.relative_to(self._project))
        return f"~/{path.relative_to(self._home)}" if path.is_relative_to(self._home) else str(path)
