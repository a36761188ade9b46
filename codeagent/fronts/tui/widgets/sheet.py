"""A page of finished rows that can be scrolled: the body of a dialog."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Draw = Callable[[int], list[Strip]]
"""Rows for a width in cells."""


class Sheet(ScrollView, can_focus=False):
    """Shows what `draw` gives for its width. `seen_end` tells whether the last row has been in view."""

    class Clicked(Message):
        """One of its rows was clicked, `at` a time; `width` is what the row was drawn for."""

        def __init__(self, row: int, width: int, at: float) -> None:
            super().__init__()
            self.row, self.width, self.at = row, width, at

    class Moved(Message):
        """Other rows are in view, or there are other rows."""

    DEFAULT_CSS = "Sheet { height: auto; overflow-x: hidden; scrollbar-size-vertical: 1; }"

    def __init__(self, draw: Draw, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._draw = draw
        self._drawn: dict[int, list[Strip]] = {}
        """Rows by width: the layout asks for another one than is shown beside a scrollbar."""
        self._furthest = 0
        self._seen_across = 0
        """The width for which `_furthest` counts."""

    def change(self, draw: Draw) -> None:
        """Show something else, from its beginning."""
        self._draw, self._furthest = draw, 0
        self._drawn.clear()
        self._measure()
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)

    def redraw(self, rows: Callable[[int], tuple[int, int]]) -> None:
        """Draw anew at the same place, and bring `rows` of its width (first, end) into view, at least the first."""
        self._drawn.clear()
        self._measure()
        height, top = self.size.height, self.scroll_offset.y
        first, end = rows(self._across)
        if first < top or end > top + height:
            self.scroll_to(y=min(first, max(0, end - height)) if first >= top else first, animate=False)
        self.refresh(layout=True)

    def scrolled(self, key: str) -> bool:
        """Scroll as this key says, by rows or pages; whether it is one that scrolls."""
        rows = {
            "up": self.scroll_up,
            "k": self.scroll_up,
            "down": self.scroll_down,
            "j": self.scroll_down,
            "space": self.scroll_page_down,
        }
        return self._scrolled(rows.get(key)) or self.paged(key)

    def paged(self, key: str) -> bool:
        """The same for pages and ends alone, where the arrows choose an answer."""
        pages = {
            "pageup": self.scroll_page_up,
            "ctrl+u": self.scroll_page_up,
            "pagedown": self.scroll_page_down,
            "ctrl+d": self.scroll_page_down,
            "home": self.scroll_home,
            "end": self.scroll_end,
        }
        return self._scrolled(pages.get(key))

    def _scrolled(self, scroll: Callable[..., None] | None) -> bool:
        if scroll is not None:
            scroll(animate=False)
        return scroll is not None

    @property
    def below(self) -> int:
        """Rows below those in view."""
        bottom = self.scroll_offset.y + self.size.height
        return max(0, len(self.rows(self._across)) - bottom) if self.size.height and self._across else 0

    @property
    def hidden(self) -> int:
        """Rows below the lowest that has been in view."""
        return max(0, len(self.rows(self._across)) - max(self._furthest, self.scroll_offset.y + self.size.height))

    @property
    def seen_end(self) -> bool:
        """Whether all of it has been on the screen."""
        return self.size.height > 0 and self.hidden == 0

    def rows(self, width: int) -> list[Strip]:
        """The rows for this width."""
        if width not in self._drawn:
            if len(self._drawn) > 1:
                self._drawn.clear()
            self._drawn[width] = self._draw(width)
        return self._drawn[width]

    @property
    def _across(self) -> int:
        """Cells of a row."""
        return self.scrollable_content_region.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(max(8, width)))

    def on_resize(self) -> None:
        self._measure()
        self.refresh()

    def _measure(self) -> None:
        if width := self._across:
            self.virtual_size = Size(width, len(self.rows(width)))
            if width != self._seen_across:  # rows are others at another width, fewer than were seen perhaps
                self._seen_across, self._furthest = width, 0
            self._see()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._see()

    def _see(self) -> None:
        self._furthest = max(self._furthest, self.scroll_offset.y + self.size.height)
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Clicked(event.y + self.scroll_offset.y, self._across, event.time))

    def render_line(self, y: int) -> Strip:
        row, width, base = y + self.scroll_offset.y, self.size.width, self.rich_style
        rows = self.rows(self._across)
        if row >= len(rows):
            return Strip.blank(width, base)
        return rows[row].crop_extend(0, width, base).apply_style(base)
