"""A shell line as plain data: commands with their words, redirections and links."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """A word as typed, and its value after quote removal, or None where that is not certain."""

    raw: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Redirect:
    """`op` is `<`, `>`, `>>`, `>&`, `&>`, ...; `fd` the descriptor as typed, mostly empty."""

    op: str
    fd: str
    target: Word


@dataclass(slots=True)
class Command:
    """A simple command at some depth. `link` is the operator before it; `body` a here-document's text."""

    text: str
    words: tuple[Word, ...]
    link: str = ""
    assignments: tuple[str, ...] = ()
    redirects: list[Redirect] = field(default_factory=list)
    body: str = ""
    start: int = 0
    odd: bool = False
    """True when a byte between its words was not understood."""


@dataclass(frozen=True, slots=True)
class Line:
    """All commands of a line in source order. `why` is empty when every byte was understood."""

    text: str
    commands: tuple[Command, ...]
    why: str = ""
