"""Quiet lines above the composer: what there is to do, and messages that wait."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widget import Widget

from codeagent.core.clean import clean_line
from codeagent.core.events import Queued
from codeagent.core.views import Todo
from codeagent.fronts import present
from codeagent.fronts.tui.palette import Glyphs, Palette

MOST = 6
"""Rows of either panel."""

WIDEST = 1000
"""Characters of a waiting message that a row can show."""


class Panel(Widget):
    """Rows of text, hidden when there are none."""

    DEFAULT_CSS = "Panel { height: auto; background: $background; padding-top: 1; }"

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.palette, self.glyphs = palette, glyphs
        self._rows: list[Text] = []

    def show(self, rows: list[Text]) -> None:
        """Show these rows."""
        if [r.plain for r in rows] != [r.plain for r in self._rows]:
            self._rows = rows
            self.set_class(bool(rows), "-shown")
            self.refresh(layout=True)

    def render(self) -> Text:
        width = self.size.width - 1
        lines = []
        for row in self._rows:
            line = row.copy()
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        return Text("\n").join(lines)


class TodoPanel(Panel):
    """The todo list while something in it is open: one quiet line at rest. `wanted` is what Ctrl+T chose."""

    wanted = True
    _at_rest = False
    _todo: Todo | None = None

    def update(self, todo: Todo | None) -> None:
        """Show the list as it stands."""
        self._todo = todo
        items = todo.items if todo else ()
        is_open = any(item.status != "completed" for item in items)
        lines = self._line if self._at_rest else self._lines
        self.show(lines(todo) if todo and is_open and self.wanted else [])

    def rest(self, *, at_rest: bool) -> None:
        """Whether nothing is being done of it now."""
        if at_rest != self._at_rest:
            self._at_rest = at_rest
            self.update(self._todo)

    def _line(self, todo: Todo) -> list[Text]:
        """How much is left, and what was next: a list with a thing in progress would look as if it went on."""
        left = [item for item in todo.items if item.status != "completed"]
        left.sort(key=lambda item: item.status != "in_progress")
        told = f" {self.glyphs.pending} {len(left)} of {len(todo.items)} left to do: {clean_line(left[0].text)}"
        return [Text(told, self.palette.muted)]

    def _lines(self, todo: Todo) -> list[Text]:
        p, g = self.palette, self.glyphs
        done = sum(item.status == "completed" for item in todo.items)
        rows = [Text(f" {g.done} {done} of {len(todo.items)} done", p.muted)] if done else []
        left = [item for item in todo.items if item.status != "completed"]
        left.sort(key=lambda item: item.status != "in_progress")
        room = MOST - len(rows)
        shown = left if len(left) <= room else left[: room - 1]
        for item in shown:
            now = item.status == "in_progress"
            rows.append(
                Text(f" {g.current if now else g.pending} ", p.accent if now else p.muted).append(
                    clean_line(item.text), f"bold {p.text}" if now else p.text
                )
            )
        if len(shown) < len(left):
            rows.append(Text(f" {g.more} {present.count(len(left) - len(shown), 'more thing')} to do", p.muted))
        return rows


class Waiting(Panel):
    """Messages typed while it worked, not delivered yet."""

    def update(self, waiting: Sequence[Queued]) -> None:
        """Show what waits, the newest last."""
        p = self.palette
        rows = []
        for queued in waiting[-(MOST - 1) :]:
            when = "after this step" if queued.when == "step" else "at the end of the turn"
            rows.append(Text(f" {self.glyphs.more} ", p.muted).append(clean_line(queued.text[:WIDEST]), p.accent))
            rows[-1].append(f"   {when}", p.muted)
        if rows:
            rows[-1].append(", Up takes it back", p.muted)
        self.show(rows)
