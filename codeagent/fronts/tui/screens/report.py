"""A page to read: lines of text in a frame, scrolled by keys. Cost, permissions, memory, a job's output, a request."""

from __future__ import annotations

import re

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from codeagent.core.clean import clean
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet

_NAMED = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)")
HANG = 16
"""Columns up to which a second column counts as such."""


class Report(Dialog[None]):
    """`text` under a title; long lines are wrapped under their first word. Esc, Enter and q close it."""

    GUARDED = False

    def __init__(self, title: str, text: str, stage: Stage) -> None:
        self._heading = title
        self._text = text
        super().__init__(stage)
        self.set_class(True, "-page")

    def title_words(self) -> tuple[str, str]:
        return self._heading, ""

    def body(self) -> list[Widget]:
        return [Sheet(self._draw, id="body")]

    def items(self) -> tuple[Item, ...]:
        return ()

    def hints(self, wide: bool) -> str:
        return "arrows and pages scroll   esc close" if wide else "arrows scroll   esc close"

    def _draw(self, width: int) -> list[Strip]:
        painter = Painter(self.stage.palette, self.stage.glyphs, width)
        rows: list[Strip] = []
        for line in clean(self._text).expandtabs(4).split("\n"):
            rows += self._wrapped(painter, line, width)
        return rows

    def _wrapped(self, painter: Painter, line: str, width: int) -> list[Strip]:
        """A line that is too long goes on under its second column, if it has one, or under its beginning."""
        text = Text(line.rstrip(), self.stage.palette.text)
        if text.cell_len <= width:
            return [painter.strip(text)]
        match = _NAMED.match(line)
        hang = match.end() if match and match.end() <= HANG else len(line) - len(line.lstrip())
        pieces = Text(line[hang:].strip(), self.stage.palette.text).wrap(painter.console, max(8, width - hang))
        first, *more = pieces or [Text()]
        return [painter.strip(Text(line[:hang]) + first), *(painter.strip(piece, " " * hang) for piece in more)]

    def choose(self, index: int) -> None:
        self.dismiss(None)

    def decline(self) -> None:
        self.dismiss(None)

    def key(self, key: str) -> bool:
        if not self.query_one(Sheet).scrolled(key) and key in ("enter", "q"):
            self.dismiss(None)
        return True
