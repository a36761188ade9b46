"""The conversation on the screen: one line-API view over all blocks, drawn lazily from the tail.

No widget per message: a block is a list of cached strips, and only what is near the screen has
any. Blocks above the first drawn one are drawn two screens at a time when the view comes near
them; blocks whose width or content is out of date are drawn again when they come into view.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from codeagent.core.events import CallDelta, Event, TextDelta, ThinkingDelta, ToolProgress
from codeagent.fronts.present import count
from codeagent.fronts.tui import sources
from codeagent.fronts.tui.page import Page
from codeagent.fronts.tui.palette import Glyphs, Palette
from codeagent.fronts.tui.render import LEFT, Painter
from codeagent.fronts.tui.story import Story
from codeagent.fronts.tui.widgets.bar import Bar
from codeagent.fronts.tui.widgets.seeking import Seeking

FLUSH = 0.09
"""Seconds between two drawings of a stream; `EAGER` in the first half second of it."""
EAGER = 0.04
KEPT = 400
"""Finished rows that are kept."""
DRAWN = 1000
"""Rows that are kept drawn while the newest are followed, twice as many at most: a row takes 3 kB."""
REWRAP = 0.1
"""Seconds that a new width must stand before everything is wrapped again."""


class Transcript(Seeking, can_focus=True):
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
        self._base: Style | None = None
        self._unseen = 0
        self._finished: dict[int, tuple[Strip, int, Style, Strip]] = {}
        """Rows as last handed to Textual, with what they were made of: making them anew costs most of a frame."""
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
        else:
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
            wait = max(EAGER if now - self._stream_began < 0.5 else FLUSH, 4 * self._cost)
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

    def render_lines(self, crop: Region) -> list[Strip]:
        """The finished rows as they are: Textual would frame, filter and cut all of them anew after each scroll."""
        width, base, top = self.size.width, self._base or self._style(), self.scroll_offset.y
        plain = not (self._words or self.text_selection or self._chosen is not None)
        strips = [self._finish(row + top, width, base, plain) for row in crop.line_range]
        if self._unseen and crop.bottom >= self.size.height:
            strips[self.size.height - 1 - crop.y] = self._filtered(self._more_below(width))
        whole = crop.column_span == (0, width)
        return strips if whole else [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row of them."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def _finish(self, row: int, width: int, base: Style, plain: bool) -> Strip:
        """A row of the page as Textual takes it; `plain` when nothing in the conversation is marked."""
        if row >= self.page.total:
            return self._filtered(Strip.blank(width, base))
        source = self.page.row(row)
        known = self._finished.get(row)
        if plain and known and known[0] is source and known[1] == width and known[2] == base:
            return known[3]
        strip = source.crop_extend(0, width, base).apply_style(base)
        if not plain:
            strip = self._with_marks(strip, row)
        strip = self._filtered(strip.apply_offsets(0, row))
        if plain:
            if len(self._finished) > KEPT:
                self._finished.clear()
            self._finished[row] = (source, width, base, strip)
        return strip

    def _with_marks(self, strip: Strip, row: int) -> Strip:
        """The strip with what is chosen, found and selected in it."""
        if self._chosen is not None and self.page.block_at(row) == self._chosen:
            strip = self._marked(strip)
        if self._words:
            strip = self._found_in(strip)
        if (selection := self.text_selection) and (span := selection.get_span(row)):
            strip = self._selected(strip, *span)
        return strip

    def _filtered(self, strip: Strip) -> Strip:
        """The strip in colours that this terminal has."""
        for each in self.get_line_filters():
            strip = strip.apply_filter(each, self.background_colors[1])
        return strip

    def _style(self) -> Style:
        self._base = self.rich_style
        return self._base

    def notify_style_update(self) -> None:
        """Colours changed: forget the widget's own, which takes 0.1 ms a row to work out."""
        super().notify_style_update()
        self._base = None

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        """The strip with the cells from `start` to `end` (-1: its last) on the ground of what is chosen."""
        width = strip.cell_length
        before, chosen, after = strip.divide([start, width if end < 0 else min(end, width), width])
        return Strip.join([before, self._marked(chosen), after])

    def _marked(self, strip: Strip) -> Strip:
        """The strip on the ground of what is chosen."""
        ground = Style.parse(f"on {self._palette.chosen}")
        return Strip(Segment.apply_style(strip, post_style=ground), strip.cell_length)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without gutter and line breaks of the screen's own."""
        rows = selection.extract("\n".join(self.page.text())).replace("\n" + " " * LEFT, "\n").split("\n")
        source = "\n".join(map(sources.of, self.page.blocks[self.page.first :]))
        return sources.unwrapped(rows, source), "\n"

    def _more_below(self, width: int) -> Strip:
        words = f" {count(self._unseen, 'new line')}   End "
        style = self.page.painter.style("accent reverse")
        return Strip(
            [Segment(" " * max(0, width - len(words) - 2), self.rich_style), Segment(words, style)]
        ).crop_extend(0, width, self.rich_style)

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
