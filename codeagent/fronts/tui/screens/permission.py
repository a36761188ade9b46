"""May this happen? The whole effect, its risk, three answers, and a way to change it first."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from codeagent.core.clean import clean, clean_line
from codeagent.core.effects import Answer, AskPermission, Risk
from codeagent.core.views import Diff, Listing, Plain, Shell, Todo
from codeagent.fronts.calls import asker
from codeagent.fronts.rewriting import editable, edited
from codeagent.fronts.tui.picking import Picking
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet

RISKS = {Risk.LOW: "low risk", Risk.MEDIUM: "medium risk", Risk.HIGH: "high risk"}
BESIDE = 15
"""Cells of " › 2 Yes, and " and a free one; where the scope does not fit behind them, the body tells it whole."""


class PermissionDialog(Dialog[Answer]):
    """Dismissed with an Answer."""

    def __init__(self, question: AskPermission, stage: Stage) -> None:
        self.question = question
        self.effect = question.effect
        self._why = False
        self._read = False
        """Whether the effect was on the screen to its end before the reasons joined it."""
        self._input: dict[str, Any] | None = None
        self._editing = editable(question.input)
        self._picking: Picking | None = None
        super().__init__(stage)
        self.set_class(self.effect.risk is Risk.HIGH, "-high")

    def title_words(self) -> tuple[str, str]:
        return f"{asker(self.question)}{self.effect.title}?", RISKS[Risk(self.effect.risk)]

    def body(self) -> list[Widget]:
        return [
            Sheet(self._rows, id="body"),
            TextArea(id="editor", compact=True, highlight_cursor_line=False),
            Input(id="words", compact=True, placeholder="your words, then Enter"),
        ]

    def items(self) -> tuple[Item, ...]:
        always = self.question.always
        if self._picking is not None:
            return Item(self._picking.words, key="1"), Item("No, and say why", key="3")
        yes = Item("Yes, as you changed it" if self._input else "Yes", key="1")
        more = (Item(f"Yes, and {clean_line(always)}", key="2"),) if always and not self._input else ()
        return (yes, *more, Item("No, and say why", key="3"))

    def hints(self, wide: bool) -> str:
        if self.has_class("-edit"):
            return "ctrl+s use this   esc leave as it was"
        if self.has_class("-words"):
            return "enter answer with these words   esc without" if wide else "enter answer   esc back"
        if self._picking is not None:
            wider = "arrows which hunk   space take it or not   enter answer   esc all of it"
            return wider if wide else "arrows move  space mark  esc all"
        size = "smaller" if self.has_class("-large") else "larger"
        hunks = self._hunks() is not None
        if not wide:
            words = "" if hunks else "tab words  "
            return f"{'h hunks  ' * hunks}{'e edit  ' * bool(self._editing)}w why  {words}^e {size}"
        edit = "e edit first   " if self._editing else ""
        return f"{'h hunks   ' * hunks}{edit}w why am I asked   tab add words   ctrl+e {size}"

    def edge_words(self) -> str:
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
        rows = self._effect_rows(painter, width)
        for touch in self.effect.touches:
            if touch.place != "inside":
                where = "outside the project" if touch.place == "outside" else touch.why or "a protected place"
                rows += painter.plain(f"{touch.access}s {clean(touch.path)}: {clean(where)}", "warning", width)
        if self.effect.host:
            rows += painter.plain(f"reaches {clean(self.effect.host)}", "warning", width)
        if self.effect.cwd and isinstance(self.effect.view, Shell):
            rows += painter.plain(f"in {clean(self.effect.cwd)}", "muted", width)
        if (always := self.question.always) and len(always) + BESIDE > width:
            rows += painter.plain(f"2 would be: {clean(always)}", "muted", width)
        return [*self._why_rows(painter, width), Strip([], 0), *rows] if self._why else rows

    def _effect_rows(self, painter: Painter, width: int) -> list[Strip]:
        if self._input is not None and self._editing:
            return painter.plain(clean(self._text()), "text", width)
        match self.effect.view:
            case Shell(command=command):
                return painter.plain(clean(command), "text", width)
            case Diff() as diff:
                if self._picking is not None:
                    return self._picking.rows(painter, width)
                return painter.diff(diff, width)
            case Plain(text=text):
                return painter.plain(clean(text), "text", width)
            case Listing(lines=lines):
                return painter.plain(clean("\n".join(lines)), "text", width)
            case Todo(items=items):
                return painter.plain("\n".join(clean(item.text) for item in items), "text", width)

    def _why_rows(self, painter: Painter, width: int) -> list[Strip]:
        verdict, p = self.question.verdict, self.stage.palette
        rows = painter.plain(clean(verdict.why) or "No rule allows this.", "text", width)
        if verdict.rule:
            rows += painter.plain(f"rule {clean(verdict.rule)}  {clean(verdict.where)}", "muted", width)
        for text, decision, reason in verdict.parts:
            line = Text(f"  {decision:<6}", p.accent if decision == "allow" else p.warning)
            line.append(f"{clean(text)}  ", p.text).append(clean(reason), p.muted)
            rows += [painter.strip(piece) for piece in line.wrap(painter.console, width)]
        if verdict.ways:
            rows += painter.plain("What would change it:", "muted", width)
        for way in verdict.ways:
            rows += painter.plain(f"- {clean(way)}", "muted", width, "  ")
        return rows

    # -- answers -------------------------------------------------------------------------------

    def choose(self, index: int) -> None:
        match self.menu.items[index].key:
            case "3" if not self.has_class("-words"):
                self._open_words()
            case "3":
                self.dismiss(Answer("no", self._words()))
            case "1" if self._picking is not None:
                self.dismiss(self._partly(self._picking))
            case key if self._seen():
                self.dismiss(Answer("always" if key == "2" else "yes", self._words(), self._input))

    def decline(self) -> None:
        if self.has_class("-edit"):
            self._close("-edit")
        elif self.has_class("-words"):
            self._close("-words")
        elif self._picking is not None:
            self._pick(None)
        else:
            self.dismiss(Answer("no"))

    def _seen(self) -> bool:
        """A command must have been on the screen to its end before it can be allowed."""
        sheet = self.query_one(Sheet)
        if not isinstance(self.effect.view, Shell) or self._read or sheet.seen_end:
            return True
        frame = self.query_one("#frame")
        sheet.scroll_page_down(animate=False)
        left = sheet.hidden
        more = f"{left} more rows" if left else "the end stands above now"
        frame.border_subtitle = Content(f"read it to its end first: {more}   page down")
        return False

    def key(self, key: str) -> bool:
        sheet = self.query_one(Sheet)
        if self._picking is not None and self._picking.key(key):
            self._picked(self._picking)
            return True
        match key:
            case "h" if self._picking is None and (diff := self._hunks()) is not None:
                self._pick(Picking(diff))
            case "w":
                self._read = self._read or sheet.seen_end
                self._why = not self._why
                sheet.change(self._rows)
            case "e" if self._editing:
                self._open_editor()
            case "tab":
                self._open_words()
            case "ctrl+e":
                self.toggle_class("-large")
                self.dress()
            case "pagedown" | "ctrl+d":
                sheet.scroll_page_down(animate=False)
            case "pageup" | "ctrl+u":
                sheet.scroll_page_up(animate=False)
            case "end":
                sheet.scroll_end(animate=False)
            case "home":
                sheet.scroll_home(animate=False)
            case _:
                return False
        return True

    def field_key(self, key: str) -> bool:
        if self.has_class("-edit") and key == "ctrl+s":
            self._use_edit()
        elif self.has_class("-words") and key in ("up", "down"):
            self.menu.move(-1 if key == "up" else 1)
        else:
            return False
        return True

    # -- hunks ---------------------------------------------------------------------------------

    def _hunks(self) -> Diff | None:
        """The change, if it can be taken in part."""
        view = self.effect.view
        return view if self.effect.hunkwise and self._input is None and isinstance(view, Diff) else None

    def _pick(self, picking: Picking | None) -> None:
        """Begin to choose among the hunks, or go back to all of it."""
        self._picking = picking
        self.menu.fill(self.items())
        self._highlight()
        self.query_one(Sheet).change(self._rows)
        self.dress()

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

    def _text(self) -> str:
        given = self._input if self._input is not None else self.question.input
        found = editable(given)
        return found[1] if found else ""

    def _open_editor(self) -> None:
        if self._picking is not None:
            self._pick(None)
        editor = self.query_one("#editor", TextArea)
        editor.text = self._text()
        self.set_class(True, "-edit")
        self.set_class(True, "-large")
        editor.focus()
        self.dress()

    def _use_edit(self) -> None:
        assert self._editing is not None
        text = self.query_one("#editor", TextArea).text
        if text != self._text():
            self._input, self._read = edited(self.question.input, self._editing[0], text), False
            self.menu.fill(self.items())
            self._highlight()
            self.query_one(Sheet).change(self._rows)
        self._close("-edit")

    def _close(self, state: str) -> None:
        self.set_class(False, state)
        self.set_class(False, "-large")
        self.set_focus(None)
        self.dress()
