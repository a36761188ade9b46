"""What fills the model's window: a coloured grid by category, and the bill by block."""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip

from codeagent.core.clean import clean_line
from codeagent.core.context import Bill, Category, cells
from codeagent.fronts import reports
from codeagent.fronts.tui.palette import Palette
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.help import Help
from codeagent.fronts.tui.stage import Stage

ROWS = 5
MOST_ACROSS = 60


def colour(kind: Category, palette: Palette) -> str:
    """The ink of a category."""
    return {
        "system": palette.muted,
        "tools": palette.keyword,
        "guidelines": palette.string,
        "memory": palette.number,
        "conversation": palette.accent,
        "tool results": palette.warning,
        "free": palette.line,
        "reserve": palette.danger,
    }[kind]


class Context(Help):
    """A page like the help: arrows scroll, any other key closes it."""

    def __init__(self, model: str, bill: Bill, stage: Stage) -> None:
        self._model, self._bill = model, bill
        super().__init__((), stage)

    def title_words(self) -> tuple[str, str]:
        return "Context", f"{100 * self._bill.used / self._bill.window:.0f} % of {self._bill.window:,} tokens"

    def _draw(self, width: int) -> list[Strip]:
        palette = self.stage.palette
        painter = Painter(palette, self.stage.glyphs, width)
        rows = painter.plain(clean_line(reports.headline(self._model, self._bill)), "text", width)
        rows += [Strip([], 0), *self._grid(painter, width), Strip([], 0)]
        for kind, words in reports.shares(self._bill):
            line = Text(f"{self._mark(kind)} ", colour(kind, palette)).append(words, palette.text)
            rows.append(painter.strip(line).crop(0, width))
        rows.append(Strip([], 0))
        for words in reports.billed(self._bill):
            rows.append(painter.strip(Text(words, palette.muted)).crop(0, width))
        return rows

    def _grid(self, painter: Painter, width: int) -> list[Strip]:
        across = max(1, min(MOST_ACROSS, (width - 1) // 2))
        kinds = cells(self._bill, across * ROWS)
        rows = []
        for at in range(0, len(kinds), across):
            line = Text()
            for kind in kinds[at : at + across]:
                line.append(f"{self._mark(kind)} ", colour(kind, self.stage.palette))
            rows.append(painter.strip(line))
        return rows

    def _mark(self, kind: Category) -> str:
        """A square where the font has one; letters tell the categories apart where it has none."""
        if self.stage.glyphs.done == "*":
            return reports.LETTERS[kind]
        return {"free": "□", "reserve": "▨"}.get(kind, "■")
