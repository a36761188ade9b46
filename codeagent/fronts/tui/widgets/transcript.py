"""The conversation on the screen: one line-API view over all blocks, drawn lazily from the tail.

No widget per message: a block is a list of cached strips, and only what is near the screen has
any. Blocks above the first drawn one are drawn two screens at a time when the view comes near
them; blocks whose width or content is out of date are drawn again when they come into view.
"""

from __future__ import annotations

from bisect import bisect_right
from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from codeagent.core.events import CallDelta, Event, TextDelta, ThinkingDelta, ToolProgress
from codeagent.fronts.present import count
from codeagent.fronts.tui.blocks import Block, Story
from codeagent.fronts.tui.palette import Glyphs, Palette
from codeagent.fronts.tui.render import Painter

FLUSH = 0.09
"""Seconds between two drawings of a stream; `EAGER` in the first half second of it."""
EAGER = 0.04
REWRAP = 0.1
"""Seconds that a new width must stand before everything is wrapped again."""


class Drawn:
    """A block's strips, and for which version and painter they were made."""

    __slots__ = ("block", "painter", "strips", "version")

    def __init__(self, block: Block, painter: Painter, old: list[Strip] | None = None) -> None:
        self.block = block
        self.version = block.version
        self.painter = painter
        strips = painter.draw(block)
        if old:
            strips = [was if was == now else now for was, now in zip(old, strips, strict=False)] + strips[len(old) :]
        self.strips = strips

    def fresh(self, painter: Painter) -> bool:
        return self.version == self.block.version and self.painter is painter


class Transcript(ScrollView, can_focus=True):
    """Shows a Story. `see` takes events; `follow` is true while the view sticks to the newest row."""

    DEFAULT_CSS = "Transcript { height: 1fr; overflow-y: scroll; overflow-x: hidden; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "previous call", show=False),
        Binding("down,j", "step(1)", "next call", show=False),
        Binding("enter,space", "unfold", "unfold", show=False),
        Binding("end,G", "tail", "newest", show=False),
        Binding("home,g", "top", "oldest", show=False),
    ]

    virtual_size = Reactive(Size(0, 0), layout=False)
    """Textual's, but new rows do not lay the whole screen out again: the scrollbar is always there."""

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
        self._painter = Painter(palette, glyphs, 80)
        self._first = 0
        self._drawn: list[Drawn] = []
        self._starts: list[int] = []
        self._total = 0
        self._unseen = 0
        self._chosen: int | None = None
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

    def reset(self) -> None:
        """Start from an empty page."""
        self.story = Story()
        self._drop(0)
        self.follow = True

    def recolour(self, palette: Palette) -> None:
        """Draw everything in other colours."""
        self._palette = palette
        self._repaint(self.size.width)

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
        if not self._drawn:
            self._from_tail()
            return
        if changed < self._first:
            self._first = min(self._first, len(self.story.blocks))
            changed = self._first
        position = changed - self._first
        kept = {id(d.block): d for d in self._drawn[position:]}
        was, before = self._total, self._rows_of(position)
        del self._drawn[position:]
        for block in self.story.blocks[changed:]:
            old = kept.get(id(block))
            if old is None or not old.fresh(self._painter):
                old = Drawn(block, self._painter, old.strips if old else None)
            self._drawn.append(old)
        self._measure(position)
        self._show(was, before, self._rows_of(position))

    def _rows_of(self, position: int) -> list[Strip]:
        return [strip for drawn in self._drawn[position:] for strip in drawn.strips]

    def _show(self, was: int, before: list[Strip], after: list[Strip]) -> None:
        """Repaint the rows that differ, or everything when the view moves."""
        if not self.follow and self._total > was:
            self._unseen += self._total - was
        if self._total != was:
            self._resize()
        if self.follow and self._total != was and self._total > self.size.height:
            return
        top = self._total - len(after)
        same = 0
        while same < min(len(before), len(after)) and before[same] is after[same]:
            same += 1
        first = max(0, top + same - self.scroll_offset.y)
        if first < self.size.height:
            self.refresh(Region(0, first, self.size.width, self.size.height - first))
        elif self._unseen:
            self.refresh(Region(0, self.size.height - 1, self.size.width, 1))

    def _resize(self) -> None:
        self._settling = True
        self._extend()
        if self.follow:
            self.scroll_to(y=self.max_scroll_y, animate=False)
        self._settling = False

    def _extend(self) -> None:
        self.virtual_size = Size(self.size.width, self._total)
        self.vertical_scrollbar.window_virtual_size = self._total

    def _measure(self, position: int) -> None:
        del self._starts[position:]
        total = self._starts[-1] + len(self._drawn[position - 1].strips) if position else 0
        for drawn in self._drawn[position:]:
            self._starts.append(total)
            total += len(drawn.strips)
        self._total = total

    def _drop(self, first: int) -> None:
        self._first = first
        self._drawn, self._starts, self._total, self._unseen, self._chosen = [], [], 0, 0, None
        self._resize()
        self.refresh()

    def _from_tail(self) -> None:
        self._first, self._drawn = len(self.story.blocks), []
        self._load(3 * max(20, self.size.height))
        self._resize()
        self.refresh()

    def _load(self, rows: int) -> int:
        """Draw about this many rows of older blocks; return how many came."""
        older: list[Drawn] = []
        got = 0
        while self._first > 0 and got < rows:
            self._first -= 1
            older.append(Drawn(self.story.blocks[self._first], self._painter))
            got += len(older[-1].strips)
        self._drawn[:0] = reversed(older)
        self._measure(0)
        return got

    def _repaint(self, width: int) -> None:
        """Another width or palette: keep the block at the top of the view where it is."""
        self._rewrap = None
        self._painter = Painter(self._palette, self._glyphs, width)
        if self.follow or not self._drawn:
            self._drop(0)
            self._from_tail()
            return
        top = bisect_right(self._starts, self.scroll_offset.y) - 1
        self._first += top
        del self._drawn[:top]
        self._measure(0)
        self._freshen(0)
        self._resize()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    def _freshen(self, y: int) -> bool:
        """Draw what is out of date and in view from row `y`; whether anything was."""
        position = max(0, bisect_right(self._starts, y) - 1)
        stale = False
        while position < len(self._drawn) and self._starts[position] < y + self.size.height:
            drawn = self._drawn[position]
            if not drawn.fresh(self._painter):
                self._drawn[position] = Drawn(drawn.block, self._painter)
                self._measure(position)
                stale = True
            position += 1
        return stale

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling:
            return
        self.follow = new_value >= self.max_scroll_y
        if self.follow:
            self._unseen = 0
        if self._freshen(int(new_value)):
            self._resize()
        if new_value < self.size.height and self._first and self._drawn:
            got = self._load(2 * self.size.height)
            self._settling = True
            self._extend()
            self.scroll_to(y=new_value + got, animate=False)
            self._settling = False

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if width and width != self._painter.width:
            if not self._drawn:
                self._repaint(width)
            else:
                if self._rewrap is not None:
                    self._rewrap.stop()
                self._rewrap = self.set_timer(REWRAP, lambda: self._repaint(width))
        elif self.follow:
            self._resize()

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        row = y + self.scroll_offset.y
        if self._unseen and y == self.size.height - 1:
            return self._more_below(width)
        if row >= self._total:
            return Strip.blank(width, base)
        position = bisect_right(self._starts, row) - 1
        strip = self._drawn[position].strips[row - self._starts[position]].crop_extend(0, width, base)
        strip = strip.apply_style(base)
        if position + self._first == self._chosen and self.has_focus:
            strip = strip.apply_style(Style.parse(f"on {self._palette.chosen}"))
        return strip

    def _more_below(self, width: int) -> Strip:
        words = f" {count(self._unseen, 'new line')}   End "
        style = self._painter.style("accent reverse")
        return Strip(
            [Segment(" " * max(0, width - len(words) - 2), self.rich_style), Segment(words, style)]
        ).crop_extend(0, width, self.rich_style)

    # -- keys and the mouse --------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        if self._unseen and event.y == self.size.height - 1:
            self.action_tail()
            return
        row = event.y + self.scroll_offset.y
        if row < self._total and not self.text_selection:
            position = bisect_right(self._starts, row) - 1
            self.story.toggle(self._first + position)
            self.flush()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.key not in {"space", "j", "k", "g", "G"}:
            event.stop()
            self.post_message(self.Leave(event.character))

    def action_tail(self) -> None:
        """To the newest row, and stay there."""
        self.follow, self._unseen = True, 0
        self.scroll_to(y=self.max_scroll_y, animate=False)
        self.refresh()

    def action_top(self) -> None:
        """To the first message."""
        self._load(1 << 30)
        self._resize()
        self.scroll_to(y=0, animate=False)

    def action_step(self, by: int) -> None:
        """Choose the next call in this direction."""
        blocks = self.story.blocks
        at = len(blocks) if self._chosen is None else self._chosen
        at += by
        while 0 <= at < len(blocks) and blocks[at].kind not in ("call", "thinking"):
            at += by
        if 0 <= at < len(blocks):
            self._chosen = at
            while at < self._first:
                self._load(2 * self.size.height)
                self._resize()
            self.scroll_to_region(Region(0, self._starts[at - self._first], self.size.width, 2), animate=False)
            self.refresh()

    def action_unfold(self) -> None:
        """Unfold or fold the chosen call."""
        if self._chosen is not None:
            self.story.toggle(self._chosen)
            self.flush()

    def fold_all(self, *, unfold: bool) -> None:
        """Unfold or fold all calls and thinking."""
        self.story.fold_all("open" if unfold else "closed")
        self.story.take_changed()
        self._repaint(self._painter.width)

    def last_rows(self, rows: int) -> list[str]:
        """The newest rows as plain text, for the normal screen after the end."""
        if not self._drawn:
            return []
        strips = [strip for drawn in self._drawn for strip in drawn.strips]
        return [strip.text.rstrip() for strip in strips[-rows:]]
