"""Keys and commands on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from codeagent.fronts.tui import keys
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet

COLUMN = 28
"""Cells that keys and commands stand in."""


class Help(Dialog[None]):
    """Any key that does not scroll closes it."""

    GUARDED = False
    WHOLE = True

    def __init__(self, commands: Sequence[tuple[str, str]], stage: Stage, own: Mapping[str, str] | None = None) -> None:
        self._commands, self._own = commands, own or {}
        super().__init__(stage)
        self.add_class("-large")

    def title_words(self) -> tuple[str, str]:
        return "Keys and commands", ""

    def body(self) -> list[Widget]:
        return [Sheet(self._draw, id="body")]

    def items(self) -> tuple[Item, ...]:
        return ()

    def hints(self, wide: bool) -> str:
        return "arrows scroll   esc close"

    def _draw(self, width: int) -> list[Strip]:
        painter, p = Painter(self.stage.palette, self.stage.glyphs, width), self.stage.palette
        groups = [*keys.shown(self._own), ("Commands", tuple(self._commands))]
        rows: list[Strip] = []
        for title, pairs in groups:
            rows += [Strip([], 0)] if rows else []
            rows.append(painter.strip(Text(title, f"bold {p.text}")))
            for key, words in pairs:
                rows += self._pair(painter, key, words, width)
        return rows

    def _pair(self, painter: Painter, key: str, words: str, width: int) -> list[Strip]:
        """The key in its column and the words beside it, or under it where it is narrow."""
        beside = width >= 60 and len(key) < COLUMN - 3
        gutter = " " * (COLUMN if width >= 60 else 4)
        rows = painter.plain(words, "text", width, gutter)
        head = Text(f"  {key}", self.stage.palette.accent)
        if not beside:
            return [painter.strip(head), *rows]
        first = Strip([*painter.strip(head.append(" " * (COLUMN - head.cell_len))), *rows[0].crop(COLUMN)])
        return [first, *rows[1:]]

    def choose(self, index: int) -> None:
        self.dismiss(None)

    def decline(self) -> None:
        self.dismiss(None)

    def key(self, key: str) -> bool:
        if not self.query_one(Sheet).scrolled(key):
            self.dismiss(None)
        return True
