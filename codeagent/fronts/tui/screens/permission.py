"""May this happen? The whole effect, its risk, three answers, and a way to change it first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec.structs import replace
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from codeagent.core.clean import clean, clean_line
from codeagent.core.effects import Answer, AskPermission, Effect, Risk
from codeagent.core.views import Diff, Plain, Shell
from codeagent.fronts.calls import asker
from codeagent.fronts.tui.drafting import Draft
from codeagent.fronts.tui.picking import Picking
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens import asked
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet
from codeagent.fronts.tui.widgets.words import Words

RISKS = {Risk.LOW: "low risk", Risk.MEDIUM: "medium risk", Risk.HIGH: "high risk"}
BESIDE = 15
"""Cells of " › 2 Yes, and " and a free one; where the scope does not fit behind them, the body tells it whole."""


class PermissionDialog(Dialog[Answer]):
    """Dismissed with an Answer."""

    def __init__(self, question: AskPermission, stage: Stage) -> None:
        self.question = question
        self.effect = question.effect
        self._told: Literal["", "why", "keys"] = ""
        """What stands above the effect."""
        self._read = False
        """Whether the effect was on the screen to its end before that joined it."""
        self._draft = Draft(question.input)
        self._input: dict[str, Any] | None = None
        self._fault = ""
        """Why what was written last was not taken."""
        self._picking: Picking | None = None
        super().__init__(stage)
        self.set_class(self.effect.risk is Risk.HIGH, "-high")

    def title_words(self) -> tuple[str, str]:
        if self.has_class("-edit"):
            return self._draft.name, clean_line(self.effect.label) if isinstance(self.effect.view, Diff) else ""
        return f"{asker(self.question)}{self.effect.title}?", RISKS[Risk(self.effect.risk)]

    def body(self) -> list[Widget]:
        return [
            Sheet(self._rows, id="body"),
            TextArea(id="editor", compact=True, highlight_cursor_line=False),
            Words(self.stage.glyphs, "your words, then Enter"),
        ]

    def items(self) -> tuple[Item, ...]:
        """No is 3 also where there is no 2: fingers that learnt a digit must never find another answer under it."""
        always = self.question.always
        if self._picking is not None:
            return Item(self._picking.words, key="1"), Item("No, and say why", key="3")
        yes = Item("Yes, as you changed it" if self._input else "Yes", key="1")
        more = (Item(f"Yes, and {clean_line(always)}", key="2"),) if always and not self._input else ()
        return (yes, *more, Item("No, and say why", key="3"))

    def hints(self, wide: bool) -> str:
        if self.has_class("-edit"):
            use = "use this" if self._draft.last else "the next one"
            return f"ctrl+s {use}   esc leave as it was" if wide else f"^s {use}  esc leave it"
        if self.has_class("-words"):
            return "enter answer with these words   esc without" if wide else "enter answer   esc back"
        if self._picking is not None:
            wider = "arrows which hunk   space take it or not   enter answer   esc all of it"
            return wider if wide else "space mark  arrows move  esc all"
        large = self.has_class("-large")
        leave = "esc back" if self._told or large else "esc no"
        hunks, edit = self._hunks() is not None, bool(self._draft)
        if not wide:
            return f"{leave}  ? keys  {'h hunks  ' * hunks}{'e edit  ' * edit}w why"
        more = f"w why   tab add words   ctrl+e {'smaller' if large else 'larger'}"
        return f"{leave}   ? keys   {'h hunks   ' * hunks}{'e edit   ' * edit}{more}"

    def edge_words(self) -> str:
        if self.has_class("-edit"):
            return "muted"
        return {Risk.LOW: "muted", Risk.MEDIUM: "warning"}.get(self.effect.risk, "danger")

    def on_mount(self) -> None:
        self._highlight()

    def _highlight(self) -> None:
        """What Enter would answer: yes, and no where a wrong yes could cost much."""
        self.menu.choose(len(self.menu.items) - 1 if self.effect.risk is Risk.HIGH else 0)

    # -- what is shown -------------------------------------------------------------------------

    def _rows(self, width: int) -> list[Strip]:
        painter = Painter(self.stage.palette, self.stage.glyphs, width)
        painter.measure = width
        return [*self._above(painter, width), *self._effect_rows(painter, width)]

    def _above(self, painter: Painter, width: int) -> list[Strip]:
        """What was asked for beside the effect, and a blank row."""
        rows: list[Strip] = []
        if self._fault:
            rows += painter.plain(f"What you wrote was not taken: {clean(self._fault)}", "warning", width)
        if self._told == "why":
            rows += asked.why(self.question.verdict, painter, width, self.stage.palette)
        elif self._told == "keys":
            rows += asked.keys(painter, width, self.stage.palette)
        return [*rows, Strip([], 0)] if rows else []

    def _effect_rows(self, painter: Painter, width: int) -> list[Strip]:
        if self._picking is not None:
            return self._picking.rows(painter, width)
        rows = asked.effect(self.effect, painter, width)
        if (always := self.question.always) and not self._input and len(always) + BESIDE > width:
            rows += painter.plain(f"2 would be: {clean(always)}", "muted", width)
        return rows

    # -- answers -------------------------------------------------------------------------------

    def choose(self, index: int) -> None:
        match self.menu.items[index].key:
            case "3" if not self.has_class("-words"):
                self._open_words()
            case "3":
                self.dismiss(Answer("no", self._words()))
            case _ if not (self._read or self.was_read()):
                return
            case "1" if self._picking is not None:
                self.dismiss(self._partly(self._picking))
            case key:
                self.dismiss(Answer("always" if key == "2" else "yes", self._words(), self._input))

    def decline(self) -> None:
        """Esc closes what was opened, the last first; only a bare question is answered by it."""
        if self.has_class("-edit"):
            self._close("-edit")
        elif self.has_class("-words"):
            self._close("-words")
        elif self._picking is not None:
            self._pick(None)
        elif self._told:
            self._tell("")
        elif self.has_class("-large"):
            self._close("-large")
        else:
            self.dismiss(Answer("no"))

    def key(self, key: str) -> bool:
        sheet = self.query_one(Sheet)
        if self._picking is not None and self._picking.key(key):
            self._picked(self._picking)
            return True
        match key:
            case "h" if self._picking is None and (diff := self._hunks()) is not None:
                self._pick(Picking(diff))
            case "w":
                self._tell("" if self._told == "why" else "why")
            case "question_mark":
                self._tell("" if self._told == "keys" else "keys")
            case "e" if self._draft:
                self._open_editor()
            case "tab":
                self._open_words()
            case "ctrl+e":
                self.toggle_class("-large")
                self.dress()
            case _:
                return sheet.paged(key)
        return True

    def field_key(self, key: str) -> bool:
        if self.has_class("-edit") and key == "ctrl+s":
            self._use_text()
        elif self.has_class("-words") and key in ("up", "down"):
            self.menu.move(-1 if key == "up" else 1)
        else:
            return False
        return True

    def _tell(self, what: Literal["", "why", "keys"]) -> None:
        """Show the reasons or the keys above the effect, or neither."""
        self._read = self._read or self.query_one(Sheet).seen_end
        self._told = what
        self._redraw()

    def _redraw(self) -> None:
        self.query_one(Sheet).change(self._rows)
        self.dress()

    # -- hunks ---------------------------------------------------------------------------------

    def _hunks(self) -> Diff | None:
        """The change, if it can be taken in part."""
        view = self.effect.view
        return view if self.effect.hunkwise and self._input is None and isinstance(view, Diff) else None

    def _pick(self, picking: Picking | None) -> None:
        """Begin to choose among the hunks, or go back to all of it."""
        self._read = self._read or self.query_one(Sheet).seen_end
        self._picking = picking
        self.menu.fill(self.items())
        self._highlight()
        self._redraw()

    def _picked(self, picking: Picking) -> None:
        chosen = self.menu.chosen
        self.menu.fill(self.items())
        self.menu.choose(chosen)
        self.query_one(Sheet).redraw(picking.where)

    def _partly(self, picking: Picking) -> Answer:
        """The answer for the hunks that are taken; the gate knows when they are all."""
        return Answer("yes" if picking.taken else "no", self._words(), hunks=picking.taken or None)

    def on_sheet_clicked(self, event: Sheet.Clicked) -> None:
        event.stop()
        if self._picking is not None and not self.typing and self.guard.takes(event.at):
            self._picking.click(event.row, event.width)
            self._picked(self._picking)

    # -- words and edits -----------------------------------------------------------------------

    def _words(self) -> str:
        return self.query_one("#words", Input).value.strip()

    def _open_words(self) -> None:
        self.set_class(True, "-words")
        self.query_one("#words", Input).focus()
        self.dress()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.choose(self.menu.chosen)

    def _open_editor(self) -> None:
        if self._picking is not None:
            self._pick(None)
        self._draft.at = 0
        self._load_text()
        self.add_class("-edit", "-large")
        self.query_one("#editor", TextArea).focus()
        self.dress()

    def _load_text(self) -> None:
        self.query_one("#editor", TextArea).text = self._draft.texts[self._draft.at]

    def _use_text(self) -> None:
        """What stands in the editor is meant; the next text, or the question about all of them."""
        self._draft.texts[self._draft.at] = self.query_one("#editor", TextArea).text
        if self._draft.last:
            self.run_worker(self._take(self._draft.input), exclusive=True)
        else:
            self._draft.at += 1
            self._load_text()
            self.dress()

    async def _take(self, given: dict[str, Any] | None) -> None:
        """Ask about this input from now on, None: the model's own; where it could not be done, stay with the last."""
        effect = self.question.effect if given is None else await self.foreseen(given)
        if not self.has_class("-edit"):
            return  # it was left meanwhile
        self._fault = effect if isinstance(effect, str) else ""
        if isinstance(effect, Effect):
            self.effect, self._input, self._read = effect, given, False
            self.set_class(effect.risk is Risk.HIGH, "-high")
        self.menu.fill(self.items())
        self._highlight()
        self._close("-edit")
        self._redraw()

    async def foreseen(self, given: Mapping[str, Any]) -> Effect | str:
        """What a yes to this input would do, or why it could not be done."""
        effect = None if self.question.agent else await self.stage.foresee(self.effect.tool, given)
        return effect if effect is not None else self._as_text()

    def _as_text(self) -> Effect:
        """The effect with the new texts themselves: of another's call it is not known here what they would do."""
        text = "\n\n".join(self._draft.texts)
        shell = isinstance(self.effect.view, Shell)
        return replace(self.question.effect, view=Shell(text) if shell else Plain(text), hunkwise=False)

    def _close(self, state: str) -> None:
        self.remove_class(state, "-large")
        self.set_focus(None)
        self.dress()
