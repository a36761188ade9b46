"""Shall this summary take the place of the older conversation? It can be rewritten first."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskSummary
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet


class SummaryDialog(Dialog[Answer]):
    """Dismissed with an Answer; its words are the summary as the person rewrote it."""

    def __init__(self, question: AskSummary, stage: Stage) -> None:
        self.question = question
        self._text = question.summary
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return "Go on with this summary?", ""

    def body(self) -> list[Widget]:
        return [Sheet(self._rows, id="body"), TextArea(id="editor", compact=True, highlight_cursor_line=False)]

    def items(self) -> tuple[Item, ...]:
        yes = "Yes, as you changed it" if self._text != self.question.summary else "Yes"
        return (
            Item(yes, self.question.words, key="1"),
            Item("Change it first", key="2"),
            Item("No, leave everything as it was", key="3"),
        )

    def hints(self, wide: bool) -> str:
        if self.has_class("-edit"):
            return "ctrl+s use this   esc leave as it was"
        leave = "esc back" if self.has_class("-large") else "esc no"
        return f"{leave}   arrows choose   page down reads on   ctrl+e larger" if wide else leave

    def _rows(self, width: int) -> list[Strip]:
        return Painter(self.stage.palette, self.stage.glyphs, width).plain(clean(self._text), "text", width)

    def choose(self, index: int) -> None:
        if index == 1:
            self._open()
        else:
            changed = self._text if self._text != self.question.summary else ""
            self.dismiss(Answer("no") if index else Answer("yes", changed))

    def decline(self) -> None:
        if self.has_class("-edit"):
            self._close()
        elif self.has_class("-large"):
            self.remove_class("-large")
            self.dress()
        else:
            self.dismiss(Answer("no"))

    def key(self, key: str) -> bool:
        match key:
            case "e":
                self._open()
            case "ctrl+e":
                self.toggle_class("-large")
                self.dress()
            case _:
                return self.query_one(Sheet).paged(key)
        return True

    def field_key(self, key: str) -> bool:
        if key != "ctrl+s":
            return False
        self._text = self.query_one("#editor", TextArea).text
        self.menu.fill(self.items())
        self.query_one(Sheet).change(self._rows)
        self._close()
        return True

    def _open(self) -> None:
        editor = self.query_one("#editor", TextArea)
        editor.text = self._text
        self.add_class("-edit", "-large")
        editor.focus()
        self.dress()

    def _close(self) -> None:
        self.remove_class("-edit", "-large")
        self.set_focus(None)
        self.dress()
