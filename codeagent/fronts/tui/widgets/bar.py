"""A scrollbar that costs next to nothing to draw: whole cells, one strip for the thumb and one for the rest.

Textual's lays out a renderable for each frame: a sixth of what a streamed reply cost.
"""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget


class Bar(ScrollBar):
    """Upright, one cell wide. A click above or below the thumb scrolls a page."""

    _parts: dict[tuple[Style, str], Strip]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The thumb, and what is above and below it."""
        window, whole, height = self.window_size, self.window_virtual_size, self.size.height
        if not window or window >= whole:
            return [self._part("")] * crop.height
        length = max(1, round(height * window / whole))
        top = round((height - length) * min(1.0, self.position / (whole - window)))
        above, thumb, below = self._part("scroll_up"), self._part("grab"), self._part("scroll_down")
        return [above if y < top else thumb if y < top + length else below for y in crop.line_range]

    def render_line(self, y: int) -> Strip:
        """One row of it."""
        return self.render_lines(Region(0, y, 1, 1))[0]

    def _part(self, action: str) -> Strip:
        parent = self.parent
        assert isinstance(parent, Widget)
        styles = parent.styles
        colour = styles.scrollbar_color_hover if self.mouse_over or self.grabbed else styles.scrollbar_color
        ground = colour if action == "grab" else styles.scrollbar_background
        style = Style(bgcolor=ground.rich_color)
        parts = self.__dict__.setdefault("_parts", {})
        if (style, action) not in parts:
            meta = {"grab": {"@mouse.down": "grab"}, "": {}}.get(action, {"@mouse.up": action})
            strip = Strip([Segment(" ", style + Style.from_meta(meta))], 1)
            for each in self.get_line_filters():
                strip = strip.apply_filter(each, ground)
            parts[style, action] = strip
        known: Strip = parts[style, action]
        return known
