"""The conversation on the screen: one line-API view over all blocks, drawn lazily from the tail.

No widget per message: a block is a list of cached strips, and only what is near the screen has
any. Blocks above the first drawn one are drawn two screens at a time when the view comes near
them; blocks whose width or content is out of date are drawn again when they come into view.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scrollbar import ScrollBar
from textual.timer import Timer

from codeagent.core.events import CallDelta, Event, Heard, TextDelta, ThinkingDelta, ToolProgress
from codeagent.fronts.tui.page import Page
from codeagent.fronts.tui.palette import Glyphs, Palette
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.story import Story
from codeagent.fronts.tui.widgets.bar import Bar
from codeagent.fronts.tui.widgets.rows import Rows

FLUSH = 0.1
"""Seconds between two drawings of a stream; `EAGER` in the first half second of it."""
EAGER = 0.04
SLOWEST = 0.5
"""Seconds between two drawings at most: what waits longer costs more to draw, and would make the next wait longer."""
DRAWN = 1000
"""Rows that are kept drawn while the newest are followed, twice as many at most: a row takes 3 kB."""
REWRAP = 0.1
"""Seconds that a new width must stand before everything is wrapped again."""


class Transcript(Rows, can_focus=True):
    """Shows a Story. `see` takes events; `follow` is true while the view sticks to the newest row."""

    DEFAULT_CSS = "Transcript { height: 1fr; overflow-y: scroll; overflow-x: hidden; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "previous call", show=False),
        Binding("down,j", "step(1)", "next call", show=False),
        Binding("enter,space", "unfold", "unfold", show=False),
        Binding("end,G", "tail", "newest", show=False),
        Binding("home,g", "top", "oldest", show=False),
        Binding("n", "found(-1)", "next find, upwards", show=False),
        Binding("N", "found(1)", "find before, downwards", show=False),
        Binding("y", "app.deed('copy')", "copy", show=False),
        Binding("slash", "app.deed('find')", "search", show=False),
    ]

    virtual_size = Reactive(Size(0, 0), layout=False, repaint=False)
    """Textual's, but new rows neither lay the screen out again (the scrollbar is always there) nor draw all rows."""

    class Leave(Message):
        """A character was typed here: it belongs to the composer."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__(id="transcript")
        self.story = Story()
        self.follow = True
        self._palette, self._glyphs = palette, glyphs
        self.page = Page(self.story.blocks, Painter(palette, glyphs, 80))
        self._timer: Timer | None = None
        self._rewrap: Timer | None = None
        self._stream_began = 0.0
        self._cost = 0.0
        self._settling = False

    # -- what happens --------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Take in an event; the screen follows within a tenth of a second, the first words at once."""
        self.story.see(event)
        if isinstance(event, TextDelta | ThinkingDelta | CallDelta | ToolProgress):
            self._schedule()
        elif not isinstance(event, Heard):  # that only records what was drawn, twice a second
            self._stream_began = 0.0
            self._schedule(0.0)

    def tell(self, text: str, level: str = "info") -> None:
        """Say something of the front's own."""
        self.story.tell(text, level)
        self._schedule(0.0)

    def reset(self, entries: Iterable[Event] = ()) -> None:
        """Start anew with what these entries tell, drawn at once."""
        self.story = Story()
        for entry in entries:
            self.story.see(entry)
        self.story.left_off()
        self.story.take_changed()
        self.follow = True
        self._from_tail(self.page.painter)

    def recolour(self, palette: Palette) -> None:
        """Draw everything in other colours."""
        self._palette = palette
        self._repaint(self.page.painter.width)

    def _schedule(self, wait: float | None = None) -> None:
        if not self.is_mounted:
            return
        now = perf_counter()
        if not self._stream_began and wait is None:
            self._stream_began, wait = now, 0.0
        if wait is None:
            wait = max(EAGER if now - self._stream_began < 0.5 else FLUSH, min(SLOWEST, 4 * self._cost))
        if self._timer is None:
            self._timer = self.set_timer(max(wait, 0.001), self.flush)
        elif wait == 0.0:
            self._timer.stop()
            self._timer = self.set_timer(0.001, self.flush)

    def flush(self) -> None:
        """Bring the strips up to date with the story."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self.size.width:
            return
        began = perf_counter()
        changed = self.story.take_changed()
        if changed is not None:
            self._update(changed)
        self._cost = perf_counter() - began

    # -- drawing -------------------------------------------------------------------------------

    def _update(self, changed: int) -> None:
        """Draw what changed; repaint the rows that differ, or everything when the view moves."""
        page, was = self.page, self.page.total
        if not len(page):
            self._from_tail(page.painter)
            return
        differs = page.update(changed)
        if page.first and page.total < self.size.height:  # a reply was taken back: older rows are in view now
            self._from_tail(page.painter)
            return
        if self._trim():
            return
        if not self.follow and page.total > was:
            self._unseen += page.total - was
        if page.total != was:
            self._resize()
            if self.follow and page.total > self.size.height:
                return
        first = max(0, differs - self.scroll_offset.y)
        if first < self.size.height:
            self.refresh(Region(0, first, self.size.width, self.size.height - first))
        elif self._unseen:
            self.refresh(Region(0, self.size.height - 1, self.size.width, 1))

    def _trim(self) -> bool:
        """Keep a long session small, where nobody looks or points at its rows; whether all was drawn anew for it."""
        if not self.follow or self.text_selection or self.page.total <= 2 * DRAWN or not self.page.trim(DRAWN):
            return False
        self._resize()
        self.refresh()
        return True

    def _resize(self) -> None:
        """As many rows as the page has; the newest in view while following."""
        self._extend()
        if self.follow:
            self._scroll(self.max_scroll_y)

    def _extend(self) -> None:
        self._settling = True
        self.virtual_size = Size(self.size.width, self.page.total)
        self.vertical_scrollbar.window_virtual_size = self.page.total
        self._settling = False

    def _scroll(self, y: float) -> None:
        """Move the view without taking it for the person's wish."""
        self._settling = True
        self.scroll_to(y=y, animate=False)
        self._settling = False

    def _from_tail(self, painter: Painter) -> None:
        self.page = Page(self.story.blocks, painter)
        self._unseen, self._chosen = 0, None
        self.page.load(3 * max(20, self.size.height))
        self._resize()
        self.refresh()

    def _repaint(self, width: int) -> None:
        """Another width or palette: keep the block at the top of the view where it is."""
        self._rewrap = None
        painter = Painter(self._palette, self._glyphs, width)
        if self.follow or not len(self.page):
            self._from_tail(painter)
            return
        self.page.repaint(painter, self.scroll_offset.y)
        self.page.freshen(0, self.size.height)
        self._resize()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling:
            return
        self.follow = new_value >= self.max_scroll_y
        if self.follow:
            self._unseen = 0
        if self.page.freshen(int(new_value), self.size.height):
            self._resize()
        if new_value < self.size.height and self.page.first and len(self.page):
            got = self.page.load(2 * self.size.height)
            self._extend()
            self._scroll(new_value + got)

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if width and width != self.page.painter.width:
            if not len(self.page):
                self._repaint(width)
            else:
                if self._rewrap is not None:
                    self._rewrap.stop()
                self._rewrap = self.set_timer(REWRAP, lambda: self._repaint(width))
        elif self.follow:
            self._resize()

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """Textual's makes its own kind."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = Bar(vertical=True, name="vertical", thickness=self.scrollbar_size_vertical)
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    # -- keys and the mouse --------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        if self._unseen and event.y == self.size.height - 1:
            self.action_tail()
            return
        row = event.y + self.scroll_offset.y
        if row < self.page.total and not self.text_selection:
            self.story.toggle(self.page.block_at(row))
            self.flush()

    def on_key(self, event: events.Key) -> None:
        if (
            event.is_printable
            and event.character
            and event.key not in {"space", *"jkgGnNy", "slash", "upper_g", "upper_n"}
        ):
            event.stop()
            self.post_message(self.Leave(event.character))

    def action_tail(self) -> None:
        """To the newest row, and stay there."""
        self.follow, self._unseen = True, 0
        self.scroll_to(y=self.max_scroll_y, animate=False)
        self.refresh()

    def action_top(self) -> None:
        """To the first message."""
        self.page.load(1 << 30)
        self._resize()
        self.scroll_to(y=0, animate=False)

    def _reach(self, index: int) -> None:
        while index < self.page.first:
            self.page.load(2 * self.size.height)
            self._resize()

    def action_unfold(self) -> None:
        """Unfold or fold the chosen call."""
        if self._chosen is not None:
            self.story.toggle(self._chosen)
            self.flush()

    def fold_all(self, *, unfold: bool) -> None:
        """Unfold or fold all calls and thinking."""
        self.story.fold_all("open" if unfold else "closed")
        self.story.take_changed()
        self._repaint(self.page.painter.width)

    def last_rows(self, rows: int) -> list[str]:
        """The newest rows as plain text, for the normal screen after the end."""
        return self.page.text()[-rows:]
