"""One line: where things stand on the left, what the next key does on the right."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from rich.text import Text
from textual.timer import Timer
from textual.widget import Widget

from codeagent.core.clean import clean_line
from codeagent.fronts import present
from codeagent.fronts.tui.palette import Glyphs, Palette

if TYPE_CHECKING:
    from codeagent.fronts.desk import Desk

TICK = 0.25
"""Seconds between two frames of the spinner; it turns only while something works."""
NARROW = 60


class Standing(Struct, frozen=True):
    """What the line shows. `context` is a share from 0 to 1; `cost` in dollars, None when unknown."""

    mode: str = ""
    model: str = ""
    branch: str = ""
    context: float = 0.0
    cost: float | None = 0.0
    sandbox: str = ""
    effort: str = ""


def left(now: Standing, width: int, palette: Palette) -> Text:
    """The standing; on narrow screens only mode, model and context."""
    p = palette
    text = Text(end="")
    role = p.warning if now.mode in ("bypass", "auto", "dontAsk") else p.accent
    parts = [(now.mode, role), (clean_line(now.model), p.text)]
    if width >= NARROW:
        parts.append((clean_line(now.branch), p.muted))
    if now.context >= 0.005:
        share = f"{now.context:.0%}".replace("%", " %")
        full = p.warning if now.context >= 0.8 else p.muted
        parts.append((share if width < NARROW else f"context {share}", full))
    if width >= NARROW:
        parts.append((present.money(now.cost) if now.cost else "", p.muted))
    if width >= NARROW + 20 and now.sandbox:
        parts.append((f"sandbox {clean_line(now.sandbox)}", p.muted))
    for words, colour in parts:
        if words:
            text.append("  " if text else " ").append(words, colour)
    return text


class Status(Widget):
    """The line. `begin` and `end` frame a turn; `hint` replaces the key hints for a moment."""

    DEFAULT_CSS = "Status { height: 1; background: $background; }"

    def __init__(self, palette: Palette, glyphs: Glyphs, now: Callable[[], float] = monotonic) -> None:
        super().__init__(id="status")
        self.palette, self._glyphs, self._now = palette, glyphs, now
        self.standing = Standing()
        self._since: float | None = None
        self._tokens = 0.0
        self._timer: Timer | None = None
        self._own = ""
        self.still = False
        """Whether nothing may move: seconds are counted, the spinner stands."""
        self._hint = ""
        self._keys = "? keys"
        self._hint_timer: Timer | None = None

    def show(self, standing: Standing) -> None:
        """Show where things stand."""
        if standing != self.standing:
            self.standing = standing
            self.refresh()

    def begin(self) -> None:
        """It works: turn the spinner, count seconds."""
        if self._since is None:
            self._since, self._tokens = self._now(), 0.0
            self._timer = self.set_interval(1.0 if self.still else TICK, self.refresh)
            self.refresh()

    def end(self) -> None:
        """It rests."""
        self._since = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh()

    @property
    def passed(self) -> float:
        """Seconds since the turn began, 0 at rest."""
        return 0.0 if self._since is None else self._now() - self._since

    def own(self, words: str) -> None:
        """What the person's own command says stands in place of the usual."""
        if words != self._own:
            self._own = words
            self.refresh()

    def told(self, desk: Desk, title: str) -> dict[str, Any]:
        """What that command is given."""
        now = self.standing
        return {
            "mode": now.mode,
            "model": now.model,
            "branch": now.branch,
            "context_percent": round(100 * now.context, 1),
            "cost_usd": now.cost,
            "project": str(desk.project),
            "session": title,
        }

    def received(self, tokens: float) -> None:
        """So many more tokens came, as far as one can guess from the words."""
        self._tokens += tokens

    def hint(self, words: str, seconds: float = 2.0) -> None:
        """Say something for a moment in place of the key hints; nothing, and they are back."""
        self._hint = words
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(seconds, self._clear_hint) if words else None
        self.refresh()

    def rest(self, keys: str) -> None:
        """What keys do while nothing works and nothing else is to be said."""
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _clear_hint(self) -> None:
        self._hint, self._hint_timer = "", None
        self.refresh()

    def render(self) -> Text:
        width = self.size.width
        right = self._right()
        own = Text(f" {self._own}", self.palette.text, end="") if self._own else None
        line = own or left(self.standing, width, self.palette)
        room = width - right.cell_len - 1
        line.truncate(max(0, room - 1), overflow="ellipsis")
        line.append(" " * max(1, room - line.cell_len))
        return line.append_text(right)

    def _right(self) -> Text:
        p = self.palette
        if self._hint:
            return Text(f"{self._hint} ", p.warning)
        if self._since is None:
            return Text(f"{self._keys} ", p.muted)
        passed = self._now() - self._since
        frames = self._glyphs.spinner
        text = Text(frames[0 if self.still else int(passed / TICK) % len(frames)], p.accent)
        text.append(f" {present.seconds(int(passed) * 1000) if passed >= 10 else f'{passed:.0f} s'}", p.text)
        if self._tokens and self.size.width >= NARROW:
            text.append(f"  {present.short(self._tokens)} tokens", p.muted)
        return text.append("  esc stop ", p.muted)
