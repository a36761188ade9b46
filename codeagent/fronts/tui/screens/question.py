"""The model's own question, and the question whether to go on at a limit."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskUser, AskValve
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet
from codeagent.fronts.tui.widgets.words import Words


def _wrapped(text: str, stage: Stage, width: int) -> list[Strip]:
    return Painter(stage.palette, stage.glyphs, width).plain(clean(text), "text", width)


class UserDialog(Dialog[Answer]):
    """Choices, and always free text. Several can be marked with the space bar when `many`."""

    def __init__(self, question: AskUser, stage: Stage) -> None:
        self.question = question
        self._marked: set[int] = set()
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return self.question.header or "A question", ""

    def body(self) -> list[Widget]:
        return [
            Sheet(lambda width: _wrapped(self.question.question, self.stage, width), id="body"),
            Words(self.stage.glyphs, "your answer, then Enter"),
        ]

    def items(self) -> tuple[Item, ...]:
        done = self.stage.glyphs.done
        rows = [
            Item(
                f"{done if i in self._marked else ' '} {c.label}" if self.question.many else c.label, c.description, key
            )
            for i, c in enumerate(self.question.choices)
            for key in [str(i + 1) if i < 8 else ""]
        ]
        return (
            *rows,
            Item(f"{'  ' if self.question.many else ''}Something else: write it", key=str(min(9, len(rows) + 1))),
        )

    def hints(self, wide: bool) -> str:
        if self.has_class("-words"):
            return "enter answer   esc back"
        mark = "space mark   " * self.question.many
        return f"{mark}{'digit or ' * (wide and not mark)}enter answer   esc no answer"

    def armed(self) -> None:
        if not self.question.choices:
            self._open_words()

    def choose(self, index: int) -> None:
        if index == len(self.question.choices):
            self._open_words()
        elif self.question.many:
            chosen = sorted(self._marked or {index})
            self.dismiss(Answer("yes", ", ".join(self.question.choices[i].label for i in chosen)))
        else:
            self.dismiss(Answer("yes", self.question.choices[index].label))

    def decline(self) -> None:
        if self.has_class("-words") and self.question.choices:
            self.set_class(False, "-words")
            self.set_focus(None)
            self.dress()
        else:
            self.dismiss(Answer("no"))

    def key(self, key: str) -> bool:
        at = self.menu.chosen
        if self.question.many and key.isdecimal() and 0 < int(key) <= len(self.question.choices):
            at = int(key) - 1
        elif key != "space" or not self.question.many:
            return False
        if at < len(self.question.choices):
            self._marked ^= {at}
            self.menu.fill(self.items())
            self.menu.choose(at)
        return True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if words := event.value.strip():
            self.dismiss(Answer("yes", words))

    def _open_words(self) -> None:
        self.set_class(True, "-words")
        self.query_one("#words", Input).focus()
        self.dress()


class ValveDialog(Dialog[Answer]):
    """Go on with a new limit, or stop."""

    def __init__(self, question: AskValve, stage: Stage) -> None:
        self.question = question
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return "Go on?", ""

    def body(self) -> list[Widget]:
        return [Sheet(lambda width: _wrapped(self.question.words, self.stage, width), id="body")]

    def items(self) -> tuple[Item, ...]:
        limit = f"until {self.question.proposed:g}" if self.question.proposed else ""
        return (Item("Go on", limit, key="1"), Item("Stop here", key="2"))

    def hints(self, wide: bool) -> str:
        return "esc stop here"

    def choose(self, index: int) -> None:
        self.dismiss(Answer("no" if index else "yes"))

    def decline(self) -> None:
        self.dismiss(Answer("no"))
