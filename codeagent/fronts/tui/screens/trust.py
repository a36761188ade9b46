"""What came with the directory, shown before any of it acts."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from codeagent.core.effects import Answer, AskTrust
from codeagent.fronts import calls
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet


class TrustDialog(Dialog[Answer]):
    """Dismissed with an Answer. The list must have been on the screen to its end before yes counts."""

    def __init__(self, question: AskTrust, stage: Stage) -> None:
        self.question = question
        super().__init__(stage)
        self.set_class(True, "-high")

    def title_words(self) -> tuple[str, str]:
        return "Trust this directory?", ""

    def body(self) -> list[Widget]:
        return [Sheet(self._rows, id="body")]

    def items(self) -> tuple[Item, ...]:
        trust, without = calls.TRUST_CHOICES
        return Item(trust, key="1"), Item(without, key="2")

    def hints(self, wide: bool) -> str:
        return "page up and down read   esc go on without it" if wide else "esc without it"

    def on_mount(self) -> None:
        self.menu.choose(1)

    def choose(self, index: int) -> None:
        if index:
            self.dismiss(Answer("no"))
        elif self.was_read():
            self.dismiss(Answer("yes"))

    def decline(self) -> None:
        self.dismiss(Answer("no"))

    def key(self, key: str) -> bool:
        return self.query_one(Sheet).paged(key)

    def _rows(self, width: int) -> list[Strip]:
        painter = Painter(self.stage.palette, self.stage.glyphs, width)
        rows: list[Strip] = []
        for role, line in calls.trust(self.question):
            rows += painter.plain(line, role, width)
        return rows
