"""A list to choose from: completions, answers, sessions. One small widget, drawn by rows."""

from __future__ import annotations

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from codeagent.core.clean import clean_line
from codeagent.fronts.tui.palette import Glyphs, Palette

NARROW = 60
"""Cells under which a label is worth more than what is told about it."""


class Item(Struct, frozen=True):
    """One row: what it is and, in quiet words, more about it. `key` is shown before it."""

    label: str
    detail: str = ""
    key: str = ""
    marked: bool = False


def _longest(items: tuple[Item, ...]) -> int:
    """Cells of the longest label that has a detail in a column."""
    return max((cell_len(item.label) for item in items if item.detail and not item.key), default=0)


class Menu(ScrollView, can_focus=False):
    """Rows with one highlighted. It takes no keys: whoever shows it moves the highlight."""

    DEFAULT_CSS = "Menu { height: auto; scrollbar-size-vertical: 1; overflow-x: hidden; }"

    class Picked(Message):
        """A row was clicked."""

        def __init__(self, menu: Menu, index: int) -> None:
            super().__init__()
            self.menu = menu
            self.index = index

    def __init__(
        self,
        palette: Palette,
        glyphs: Glyphs,
        items: tuple[Item, ...] = (),
        *,
        id: str,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self.palette, self._glyphs = palette, glyphs
        self.items = items
        self.chosen = 0
        self._longest = _longest(items)

    def _column(self, width: int) -> int:
        """Where details begin, one place for all: behind the longest label, as far as they are left some room."""
        return max(24, min(self._longest + 5, width * 5 // 8, width - 16))

    def fill(self, items: tuple[Item, ...]) -> None:
        """Show other rows, the first of them highlighted."""
        self.items, self.chosen, self._longest = items, 0, _longest(items)
        self.virtual_size = Size(self.size.width, len(items))
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Move the highlight, around the ends."""
        if self.items:
            self.choose((self.chosen + by) % len(self.items))

    def choose(self, index: int) -> None:
        """Highlight this row and bring it into view."""
        self.chosen = index
        top = self.scroll_offset.y
        if index < top:
            self.scroll_to(y=index, animate=False)
        elif index >= top + self.size.height > 0:
            self.scroll_to(y=index - self.size.height + 1, animate=False)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.items)

    def on_mount(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.items))

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.items))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = event.y + self.scroll_offset.y
        if index < len(self.items):
            self.post_message(self.Picked(self, index))

    def render_line(self, y: int) -> Strip:
        width, index = self.size.width, y + self.scroll_offset.y
        base = self.rich_style
        if index >= len(self.items):
            return Strip.blank(width, base)
        item, p = self.items[index], self.palette
        chosen = index == self.chosen
        row = Text(f" {self._glyphs.you} " if chosen else "   ", p.accent, end="")
        row.append(f"{item.key} " if item.key else "", f"bold {p.accent}")
        label = Text(clean_line(item.label), f"bold {p.text}" if chosen or item.marked else p.text)
        column = self._column(width) if item.detail and not item.key else 0
        if width >= NARROW and column and row.cell_len + label.cell_len > column - 2:
            label.truncate(column - row.cell_len - 3)
            label.append(self._glyphs.more, p.muted)
        row.append_text(label)
        if item.detail:
            row.append(" " * max(2, column - row.cell_len))
            row.append(clean_line(item.detail), p.muted)
        if row.cell_len > width - 1:
            row.truncate(width - 2)
            row.append(self._glyphs.more, p.muted)
        ground = base + Style.parse(f"on {p.chosen}") if chosen else base
        segments = [Segment(s.text, ground + (s.style or Style.null())) for s in row.render(self.app.console)]
        return Strip(segments).extend_cell_length(width, ground)
