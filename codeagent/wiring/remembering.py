"""The memory as its owner sees it: listed, read, opened in an editor, switched on and off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from codeagent.core.errors import ToolFault, UsageFault
from codeagent.memory import topic_file
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics


class Remembering:
    """Implements fronts.desk.Remembered. `switch` stores the setting and says where."""

    def __init__(self, topics: Topics, layout: Layout, on: Callable[[], bool], switch: Callable[[bool], str]) -> None:
        self._topics, self._layout, self._on, self._switch = topics, layout, on, switch

    @property
    def on(self) -> bool:
        """Whether new sessions get the index."""
        return self._on()

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
        """Store whether sessions have a memory; where it stands now."""
        return self._switch(on)
