"""Pasted text goes past the parser, which reads character by character: 3 MB would take it five seconds."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from textual._xterm_parser import XTermParser
from textual.events import Paste
from textual.message import Message

START, END = "\x1b[200~", "\x1b[201~"
"""What a terminal writes around a paste."""

_BROKEN_MOUSE = re.compile(r"\x1b\[<[\d;]*NaN[\w;]*?[Mm]")
"""A mouse report without numbers, as some editors' terminals send: it would be typed as text."""


class Typed:
    """Makes events of what comes from the terminal. The parser sees the marks of a paste, and nothing between them."""

    def __init__(self, parser: XTermParser) -> None:
        self._parser = parser
        self._pieces: list[str] | None = None
        """The paste so far, None outside one."""
        self._tail = ""
        """The end of what came last, as long as it may be the beginning of a mark."""

    def feed(self, text: str) -> Iterator[Message]:
        """The events that are complete with this text."""
        while text:
            text = yield from (self._outside(text) if self._pieces is None else self._inside(text))

    def tick(self) -> Iterator[Message]:
        """The events that are complete because nothing followed: a lone Esc."""
        if self._pieces is None:
            for event in self._parser.tick():
                self._tail = ""
                yield event

    def _outside(self, text: str) -> Generator[Message, None, str]:
        """Keys up to a paste's start; returns what follows it."""
        known, both = len(self._tail), self._tail + text
        at = both.find(START)
        keys = text if at < 0 else both[known : at + len(START)]
        self._tail = _begun(both, START) if at < 0 else ""
        yield from self._parser.feed(_BROKEN_MOUSE.sub("", keys))
        if at < 0:
            return ""
        self._pieces = []
        return both[at + len(START) :]

    def _inside(self, text: str) -> Generator[Message, None, str]:
        """The paste up to its end; returns what follows it."""
        assert self._pieces is not None
        both = self._tail + text
        at = both.find(END)
        if at < 0:
            self._tail = _begun(both, END)
            self._pieces.append(both[: len(both) - len(self._tail)])
            return ""
        pasted = "".join((*self._pieces, both[:at])).replace("\x00", "")
        self._pieces, self._tail = None, ""
        for event in self._parser.feed(END):
            yield Paste(pasted) if isinstance(event, Paste) else event
        return both[at + len(END) :]


def _begun(text: str, mark: str) -> str:
    """The longest end of a text with which the mark may begin."""
    return next((mark[:n] for n in range(len(mark) - 1, 0, -1) if text.endswith(mark[:n])), "")
