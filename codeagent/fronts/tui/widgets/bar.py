"""A scrollbar that costs next to nothing to draw: whole cells, one strip for the thumb and one for the rest.

Textual's lays out a renderable for each frame: a sixth of what a streamed reply cost.
"""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget


class Bar(ScrollBar):
    """Upright, one cell wide."""

    _parts: dict[tuple[Style, str], Strip]

    def render_line(self, y: int) -> Strip:
        """The thumb, or what is above or below it; a click there scrolls a page."""
        window, whole, height = self.window_size, self.window_virtual_size, self.size.height
        if not window or window >= whole:
            return self._part("")
        length = max(1, round(height * window / whole))
        top = round((height - length) * min(1.0, self.position / (whole - window)))
        if top <= y < top + length:
            return self._part("grab")
        return self._part("scroll_up" if y < top else "scroll_down")

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
            parts[style, action] = Strip([Segment(" ", style + Style.from_meta(meta))], 1)
        strip: Strip = parts[style, action]
        return strip
