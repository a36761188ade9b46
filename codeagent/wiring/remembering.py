"""The memory as its owner sees it: listed, read, opened in an editor, switched on and off."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.core.errors import ToolFault, UsageFault
from codeagent.core.notebook import Excerpt
from codeagent.memory import topic_file
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics


class Shelf:
    """Implements fronts.desk.Remembered. `store` keeps the switch and says where.

    `key` seals what is written, `sessions` are the logs that are searched; `believed` says whether
    index lines of others may be shown.
    """

    def __init__(
        self,
        layout: Layout,
        key: bytes,
        sessions: Path,
        environ: Mapping[str, str],
        store: Callable[[bool], str],
        *,
        on: bool,
        believed: Callable[[Sequence[str]], bool] = lambda _: True,
    ) -> None:
        self._layout, self._key, self._sessions, self._environ, self._store = layout, key, sessions, environ, store
        self._believed = believed
        self._topics = self.topics("")
        self.on = on
        """Whether new sessions get the index."""

    def topics(self, session: str) -> Topics:
        """The notebook of a session, which is put down as the source of what it saves."""
        return Topics(self._layout, self._key, session, time.time, self._search_sessions, self._believed)

    def _search_sessions(self, words: str) -> Sequence[Excerpt]:
        from codeagent.host.programs import find_program
        from codeagent.sessions.search import search

        return search(self._sessions, words, rg=find_program("rg", self._environ, self._layout.project))

    def index(self) -> str:
        """The index with what is wrong with it. Raises UsageFault."""
        try:
            return self._topics.index()
        except ToolFault as fault:
            raise UsageFault(str(fault)) from None

    def read(self, name: str) -> str:
        """A topic. Raises UsageFault when there is none."""
        try:
            return self._topics.read(name)
        except ToolFault as fault:
            raise UsageFault(str(fault)) from None

    def search(self, words: str) -> Sequence[str]:
        """Lines of topics that hold the words."""
        return self._topics.search(words)

    def path(self, name: str) -> Path:
        """The file to edit: the index when no topic is named. Raises UsageFault for a topic that is not there."""
        if not name:
            self._layout.ensure()
            self._layout.memory.mkdir(mode=0o700, exist_ok=True)
            return self._layout.index
        self.read(name)
        return self._layout.memory / topic_file.file_name(name)

    def adopt(self, path: Path) -> str:
        """Take what the owner wrote as our own, so that the memory tool may go on with it; what is wrong with it."""
        if path == self._layout.index:
            return ""
        try:
            return self._topics.adopt(path.name)
        except ToolFault as fault:
            return str(fault)

    def switch(self, *, on: bool) -> str:
        """Store whether new sessions have a memory; where it stands now. Raises UsageFault."""
        where = self._store(on)
        self.on = on
        return where
