"""What all questions share: a frame over the lower part of the screen, numbered answers, the typing guard."""

from __future__ import annotations

from math import inf
from typing import ClassVar, Generic, TypeVar

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from codeagent.core.clean import clean_line
from codeagent.fronts.present import count
from codeagent.fronts.tui.guard import Guard
from codeagent.fronts.tui.look import DIALOGS, SHORT, fit
from codeagent.fronts.tui.palette import ASCII, Palette
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item, Menu
from codeagent.fronts.tui.widgets.sheet import Sheet

T = TypeVar("T")
WIDE = 66
"""Cells of the lower edge from which hints are written out."""


def fitted(hints: str, room: int) -> str:
    """As many of the hints, which two blanks or more part, as have room: half of one would tell something else."""
    while len(hints) > room and "  " in hints:
        hints = hints.rpartition("  ")[0].rstrip()
    return hints[:room]


class Dialog(ModalScreen[T], Generic[T]):
    """Subclasses give `title_words`, `body`, `items`, and decide what a chosen row means in `choose`.

    Those raise here, as in Textual's own base classes: its metaclass does not combine with ABC's.
    """

    AUTO_FOCUS = ""
    CSS = DIALOGS
    SCOPED_CSS = False
    GUARDED: ClassVar[bool] = True
    """False for what the person opened on purpose."""
    WHOLE: ClassVar[bool] = False
    """Whether it takes the whole screen."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        self.guard = Guard()
        self.set_class(self.GUARDED, "-unarmed")
        if not self.GUARDED:
            self.guard.until = 0.0
        self._expectant = True
        self._answered = False
        self._reading: Sheet | None = None
        """What a yes came too early for."""

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Go, with one answer: a key that was pressed in haste after it belongs to nobody."""
        if self._answered:
            return AwaitComplete()
        self._answered = True
        return super().dismiss(result)

    # -- for subclasses ------------------------------------------------------------------------

    def title_words(self) -> tuple[str, str]:
        """The question, and a word for the right end of the title."""
        raise NotImplementedError

    def body(self) -> list[Widget]:
        """What stands above the answers."""
        return []

    def items(self) -> tuple[Item, ...]:
        """The answers; an item's `key` is the digit that chooses it."""
        raise NotImplementedError

    def choose(self, index: int) -> None:
        """An answer was chosen, by digit, Enter or click."""
        raise NotImplementedError

    def decline(self) -> None:
        """Esc."""
        raise NotImplementedError

    def hints(self, wide: bool) -> str:
        """Keys, in the lower edge; in few letters where it is narrow."""
        return "esc no"

    def armed(self) -> None:
        """Keys count from now on."""

    @property
    def typing(self) -> bool:
        """Whether a field of the dialog takes the keys now."""
        return self.has_class("-words") or self.has_class("-edit")

    def field_key(self, key: str) -> bool:
        """A key while typing; whether it is not for the field."""
        return False

    def key(self, key: str) -> bool:
        """Another key; whether it was taken."""
        return False

    # -- the frame -----------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Vertical(id="frame"):
            yield from self.body()
            yield Menu(self.stage.palette, self.stage.glyphs, self.items(), id="answers")

    def on_mount(self) -> None:
        if self.stage.glyphs is ASCII:
            self.query_one("#frame").styles.border = ("ascii", self._edge)
        self.dress()
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        """It has been painted: only now can a key be meant for it, however busy the machine is."""
        if self.GUARDED:
            self.guard.shown(self.stage.now(), self.stage.last_key())
        self._wait()

    def on_resize(self) -> None:
        self.dress()

    def _share(self) -> None:
        """Give the answers their rows and the body the rest, so that neither pushes the other out."""
        height = self.app.size.height
        tall = height > SHORT
        whole = self.WHOLE or self.has_class("-large") or not tall
        room = height - 2 if whole else height * 3 // 4 - 2
        bodies = self.query("#body")
        answers = min(len(self.menu.items), room - 2 if bodies else room)
        self.menu.styles.max_height = answers
        for body in bodies:
            words = (1 + tall) * self.has_class("-words")
            body.styles.max_height = max(2, room - answers - (tall and bool(answers)) - words)

    def dress(self) -> None:
        """Share the rows, and write title and hints into the frame's edges."""
        fit(self, self.app.size)
        self._share()
        self._reading = None
        frame = self.query_one("#frame")
        question, right = (clean_line(words) for words in self.title_words())
        this, of = self.stage.place
        right = f"{right}  {this} of {of}" if of > 1 else right
        room = self.app.size.width - 6
        if len(question) + len(right) + 4 > room:
            question = question[: max(8, room - len(right) - 5)] + self.stage.glyphs.more
        palette = self.stage.palette
        line = self.stage.glyphs.line * max(1, room - len(question) - len(right) - 2)
        title = Content.styled(question, f"bold {palette.css('text')}")
        if right:
            title += (
                Content.styled(" ", self._edge)
                + Content.styled(f"{line} ", self._edge)
                + Content.styled(right, f"bold {palette.css(self.edge_words())}")
            )
        frame.border_title = title
        self._hint()
        self.call_after_refresh(self._make_room)

    def _hint(self) -> None:
        """What keys do, in the lower edge, after what lies below it."""
        room = self.app.size.width - 6
        below = next((sheet.below for sheet in self.query(Sheet) if sheet.display), 0)
        words = f"{count(below, 'more row')}: {'page down, end   ' if room >= WIDE else 'end  '}" if below else ""
        self.query_one("#frame").border_subtitle = Content(fitted(words + self.hints(room >= WIDE), room))

    def on_sheet_moved(self, event: Sheet.Moved) -> None:
        event.stop()
        if self._reading:
            self._ask_to_read(self._reading)
        else:
            self._hint()

    def was_read(self) -> bool:
        """Whether all that stands above the answers was on the screen; if not, the next page of it comes."""
        sheet = self.query_one(Sheet)
        if sheet.seen_end:
            return True
        self._reading = sheet
        sheet.scroll_page_down(animate=False)
        self._ask_to_read(sheet)
        return False

    def _ask_to_read(self, sheet: Sheet) -> None:
        """In the lower edge: how much must still be read before a yes counts."""
        room = self.app.size.width - 6
        left = count(sheet.hidden, "more row")
        if not sheet.hidden:
            words = "the end stands above now"
        elif room >= WIDE:
            words = f"read it to its end first: {left}   page down, end"
        else:
            words = f"first read {left}: end"
        self.query_one("#frame").border_subtitle = Content(fitted(words, room))

    @property
    def _edge(self) -> str:
        """The frame's colour."""
        return self.stage.palette.css("danger" if self.has_class("-high") else "muted")

    def edge_words(self) -> str:
        """The role of the word at the right end of the title."""
        return "text"

    def recolour(self, palette: Palette) -> None:
        """Use other colours from now on."""
        self.stage = replace(self.stage, palette=palette)
        self.menu.palette = palette
        self.menu.refresh()
        self.dress()

    def _make_room(self) -> None:
        if self.is_attached:
            self.stage.cover(self.query_one("#frame").outer_size.height)

    def on_unmount(self) -> None:
        self.stage.cover(0)

    @property
    def menu(self) -> Menu:
        """The answers."""
        return self.query_one("#answers", Menu)

    def _wait(self) -> None:
        left = self.guard.until - self.stage.now()
        if left > 0:
            self.set_timer(left + 0.01, self._wait)
        elif self._expectant:
            self._expectant = False
            self.armed()
        self.set_class(left > 0, "-unarmed")

    # -- keys ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self.typing and event.key != "escape":
            if self.field_key(event.key):
                event.stop()
            return
        event.stop()
        if event.key == "escape":
            self.decline()
        elif not self.guard.takes(event.time):
            if self.is_attached and self.guard.until < inf:
                self._wait()
            if event.is_printable and event.character:
                self.stage.stray(event.character)
        elif not self.key(event.key):
            self._answer_key(event.key)

    def _answer_key(self, key: str) -> None:
        if key in ("up", "down"):
            self.menu.move(-1 if key == "up" else 1)
        elif key == "enter":
            self.choose(self.menu.chosen)
        else:
            for index, item in enumerate(self.menu.items):
                if item.key == key:
                    self.menu.choose(index)
                    self.choose(index)
                    return

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.stage.stray(event.text)

    def on_menu_picked(self, event: Menu.Picked) -> None:
        event.stop()
        if self.guard.takes(event.time):
            self.menu.choose(event.index)
            self.choose(event.index)
