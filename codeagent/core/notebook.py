"""What the memory tool asks of the place where notes are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

TopicKind = Literal["user", "feedback", "project", "reference"]


class Topic(Struct, frozen=True):
    """What is to be remembered under one name. `description` is one line, for the index; `text` is Markdown."""

    name: str
    description: str
    text: str
    kind: TopicKind = "project"


class Change(Struct, frozen=True):
    """A save or a deletion, worked out and not yet made.

    `file` is the topic's file name, `path` its absolute path; `before` and `after` are its whole text (None: no file).
    `line` is the topic's new line in the index.
    """

    file: str
    path: str
    before: str | None
    after: str | None
    line: str = ""


class Excerpt(Struct, frozen=True):
    """A place in an old session: its id, seconds since the epoch, the kind of entry, and some words around the hit."""

    session: str
    when: float
    kind: str
    text: str


class Notebook(Protocol):
    """Topics that outlive a session. All methods raise ToolFault with words for the model; names may be file names."""

    def index(self) -> str:
        """The index as the prompt shows it, with what is wrong with it at its end."""
        ...

    def read(self, name: str) -> str:
        """A topic's whole file; names of topics near it when there is none."""
        ...

    def planned_save(self, topic: Topic) -> Change:
        """What saving would change. Refuses what was edited by hand since it was written."""
        ...

    def planned_deletion(self, name: str) -> Change:
        """What deleting would change."""
        ...

    def carry_out(self, change: Change) -> str:
        """Make the change, if the topic still is as it was when it was planned; returns a notice, mostly empty."""
        ...

    def search(self, words: str) -> Sequence[str]:
        """Lines `file:line: text` of topics that hold the words."""
        ...

    def search_sessions(self, words: str) -> Sequence[Excerpt]:
        """Places in earlier sessions that hold the words."""
        ...
