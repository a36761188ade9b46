"""Rows of a page as Textual takes them: as wide as the view, in colours that this terminal has, with their marks."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip

from codeagent.fronts.present import count
from codeagent.fronts.tui import sources
from codeagent.fronts.tui.palette import Palette
from codeagent.fronts.tui.render import LEFT
from codeagent.fronts.tui.widgets.seeking import Seeking

KEPT = 400
"""Finished rows that are kept."""


class Rows(Seeking):
    """Draws what is in view. Finished rows are kept: making them anew costs most of a frame."""

    _palette: Palette
    _unseen = 0
    """Rows that came below the view."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._base: Style | None = None
        self._finished: dict[int, tuple[Strip, int, Style, Strip]] = {}
        """By row: what it was made of (strip, width, ground), and what was made of it."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The finished rows as they are: Textual would frame, filter and cut all of them anew after each scroll."""
        width, base, top = self.size.width, self._base or self._style(), self.scroll_offset.y
        plain = not (self._words or self.text_selection or self._chosen is not None)
        end = min(top + crop.bottom, self.page.total)
        strips = [self._finish(row, width, base, plain) for row in range(top + crop.y, end)]
        strips += [self._filtered(Strip.blank(width, base))] * (crop.height - len(strips))
        if self._unseen and crop.bottom >= self.size.height:
            strips[self.size.height - 1 - crop.y] = self._filtered(self._more_below(width))
        whole = crop.column_span == (0, width)
        return strips if whole else [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row of them."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def _finish(self, row: int, width: int, base: Style, plain: bool) -> Strip:
        """A row of the page as Textual takes it; `plain` when nothing in the conversation is marked."""
        source = self.page.row(row)
        known = self._finished.get(row)
        if plain and known and known[0] is source and known[1] == width and known[2] is base:
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
