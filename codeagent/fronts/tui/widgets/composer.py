"""Where the person writes: several rows, history, completion of commands and files, collapsed pastes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from codeagent.core.messages import Image
from codeagent.fronts.tui import attaching, completion
from codeagent.fronts.tui.history import History
from codeagent.fronts.tui.keys import NEWLINE_KEYS
from codeagent.fronts.tui.pastes import TOKEN, Pastes
from codeagent.fronts.tui.widgets.menu import Item, Menu

if TYPE_CHECKING:
    from codeagent.fronts.tui.vim import Vim

Want = Literal["take_back", "help", "look", "up", "down", "top", "tail"]

LISTING = 0.1
"""Seconds after which files are asked for again while their first listing runs."""

HEAVY = 100_000
"""Characters that are not laid out for editing: a million take a second."""

ELSEWHERE: dict[str, Want] = {
    "pageup": "up",
    "pagedown": "down",
    "ctrl+home": "top",
    "ctrl+end": "tail",
}


class Composer(TextArea):
    """Posts `Sent` with whole texts. `files` and `commands` are asked when a completion is wanted."""

    DEFAULT_CSS = """
    Composer { height: auto; max-height: 10; padding: 0 1 0 0; border: none; background: $background;
               scrollbar-size-vertical: 1; }
    Composer:focus { border: none; }
    """

    class Sent(Message):
        """A message is ready; `pictures` go with it."""

        def __init__(self, text: str, pictures: tuple[Image, ...] = ()) -> None:
            super().__init__()
            self.text = text
            self.pictures = pictures

    class Stood(Message):
        """The draft is another, or a list opened or closed; `keys` says what keys do now."""

        def __init__(self, keys: str) -> None:
            super().__init__()
            self.keys = keys

    class Dropped(Message):
        """A picture's file was dropped here."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class Wanted(Message):
        """A key that is meant for the conversation."""

        def __init__(self, what: Want) -> None:
            super().__init__()
            self.what = what

    def __init__(self, menu: Menu) -> None:
        super().__init__(id="composer", compact=True, highlight_cursor_line=False, placeholder="What shall we do?")
        self.past = History()
        self.pastes = Pastes()
        self.files: Callable[[], Sequence[str] | None] = tuple
        self.project = Path()
        """Where relative paths of dropped files begin."""
        self.commands: Callable[[str], Sequence[tuple[str, str]]] = lambda _: ()
        self.waiting = False
        """Whether a message waits that Up could take back."""
        self.last_key = 0.0
        self.cursor_blink = False
        self.menu = menu
        self._start = 0
        self._again: Timer | None = None
        self._recalled: str | None = None
        self._stashed = ""
        self.vim: Vim | None = None
        """Vim's keys, when they are wanted."""

    # -- text ----------------------------------------------------------------------------------

    def put(self, text: str) -> None:
        """Replace the draft, the cursor at its end; a very long text comes back as a paste's token."""
        self.text = text if len(text) <= HEAVY else self.pastes.take(text)
        self.move_cursor(self.document.end)

    def stray(self, text: str) -> None:
        """Take in what was typed elsewhere but meant for here."""
        self.last_key = monotonic()
        self.insert(text)

    def forget(self) -> None:
        """Clear the draft; Up brings it back."""
        self.past.add(self.pastes.expand(self.text))
        self.put("")

    @property
    def whole(self) -> str:
        """The draft with its pastes in full."""
        return self.pastes.expand(self.text)

    def attach(self, picture: Image) -> None:
        """Take a picture into the draft, as a token."""
        self.insert(f"{self.pastes.attach(picture)} ")

    def stash(self) -> str:
        """Put the draft aside, or bring back what was; what happened, in words."""
        if self.text.strip():
            self._stashed = self.text
            self.put("")
            return "put aside; the same key brings it back"
        if not self._stashed:
            return "nothing is put aside"
        self.put(self._stashed)
        self._stashed = ""
        return "here it is again"

    def _send(self) -> None:
        text = self.whole.strip()
        if text:
            pictures = self.pastes.pictures(self.text)
            self.past.add(text)
            self.put(self._stashed)
            self._stashed = ""
            self.post_message(self.Sent(text, pictures))

    # -- keys ----------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        self.last_key = monotonic()
        if (self.menu.display and self._complete_key(event.key)) or (self.vim and self._vim_key(self.vim, event)):
            pass
        elif event.key in NEWLINE_KEYS:
            self._replace_via_keyboard("\n", *self.selection)
        elif event.key == "enter":
            self._enter()
        elif event.key == "up" and self.cursor_at_first_line:
            self._older()
        elif event.key == "down" and self.cursor_at_last_line:
            self._newer()
        elif event.key == "backspace" and self._drop_token():
            pass
        elif event.character == "?" and not self.text:
            self.post_message(self.Wanted("help"))
        elif want := ELSEWHERE.get(event.key):
            self.post_message(self.Wanted(want))
        elif event.key == "tab" and not self.text:
            self.post_message(self.Wanted("look"))
        elif event.key == "tab":
            self._complete(asked=True)
        else:
            return  # Textual goes on to the TextArea's own handler
        event.stop()
        event.prevent_default()

    def _vim_key(self, vim: Vim, event: events.Key) -> bool:
        """Whether vim's keys took it; Enter sends in either mode, and an Esc in normal mode is the app's."""
        if event.key == "escape":
            return vim.escape(self)
        if event.character == "?" and not self.text:
            return False
        return bool(event.is_printable and event.character and vim.key(event.character, self))

    # -- vim.Draft -----------------------------------------------------------------------------

    def place(self) -> tuple[str, int]:
        """The draft, and where the cursor stands in it."""
        row, column = self.cursor_location
        return self.text, sum(len(line) + 1 for line in self.document.lines[:row]) + column

    def change(self, text: str, at: int) -> None:
        """The draft becomes this text, undoable, the cursor at this place."""
        if text != self.text:
            self.replace(text, (0, 0), self.document.end)
        before = text[:at]
        self.move_cursor((before.count("\n"), at - before.rfind("\n") - 1))

    def _enter(self) -> None:
        row, column = self.cursor_location
        if column and self.document[row][:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
        else:
            self._send()

    def _older(self) -> None:
        if self.waiting and not self.text:
            self.post_message(self.Wanted("take_back"))
        elif self.text in ("", self._recalled):
            self._recall(self.past.older(self.text))
        else:
            self.move_cursor((0, 0))

    def _newer(self) -> None:
        if self.text == self._recalled:
            self._recall(self.past.newer())

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.put(text)
            self._recalled = self.text

    def _drop_token(self) -> bool:
        """Delete a paste's token as one."""
        if not self.selection.is_empty:
            return False
        row, column = self.cursor_location
        for match in TOKEN.finditer(self.document[row][:column]):
            if match.end() == column:
                self.delete((row, match.start()), (row, column))
                return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.last_key = monotonic()
        if path := attaching.dropped(event.text, self.project):
            self.post_message(self.Dropped(path))
            return
        self._replace_via_keyboard(self.pastes.take(event.text), *self.selection)

    # -- completion ----------------------------------------------------------------------------

    def on_text_area_changed(self) -> None:
        self._complete()
        self._stand()

    def on_blur(self) -> None:
        self._list(shown=False)

    def _list(self, *, shown: bool) -> None:
        if self.menu.display != shown:
            self.menu.display = shown
            self._stand()

    def _stand(self) -> None:
        listed, draft = "tab take it  esc close", "enter send"
        self.post_message(self.Stood(listed if self.menu.display else draft if self.text else "? keys"))

    @staticmethod
    def _argument(before: str, asked: bool) -> str:
        """The last word of a `!` line, which Tab completes as a path."""
        return before.rpartition(" ")[2] if asked and before.startswith("!") and " " in before else ""

    def _complete(self, asked: bool = False) -> None:
        row, column = self.cursor_location
        before = self.document[row][:column]
        items: tuple[Item, ...] = ()
        if row == 0 and before.startswith("/") and " " not in before and self.text != self._recalled:
            self._start = 0
            items = tuple(Item(name, words) for name, words in self.commands(before))
        elif (wanted := completion.mention(before)) is not None or (wanted := self._argument(before, asked)):
            self._start = column - len(wanted)
            paths = self.files()
            if paths is None and self._again is None:
                self._again = self.set_timer(LISTING, self._look_again)
            items = tuple(Item(path) for path in completion.fitting(wanted, paths or ()))
            if len(items) == 1 and items[0].label == wanted:
                items = ()
        if items != self.menu.items:
            self.menu.fill(items)
        self._list(shown=bool(items))

    def _look_again(self) -> None:
        self._again = None
        if self.has_focus:
            self._complete()

    def _complete_key(self, key: str) -> bool:
        """Whether the open menu took this key."""
        if key in ("up", "down"):
            self.menu.move(-1 if key == "up" else 1)
        elif key == "escape":
            self._list(shown=False)
            if self.text == "/":
                self.put("")  # it was there for the list alone
        elif key in ("tab", "enter"):
            self._complete()  # the rows may be those of fewer letters: news of a change comes after keys in a hurry
            return self.menu.display and self._accept(key)
        else:
            return False
        return True

    def _accept(self, key: str) -> bool:
        """Put the highlighted row in; Enter on a command that stands there already sends it."""
        chosen = self.menu.items[self.menu.chosen].label
        row, column = self.cursor_location
        typed = self.document[row][self._start : column]
        self._list(shown=False)
        if key == "enter" and typed.removeprefix("/") == chosen.removeprefix("/"):
            return False
        text = chosen
        if self.document[row][:1] == "/" and self._start == 0 and not chosen.startswith("/"):
            text = f"/{chosen}"
        self.replace(f"{text} ", (row, self._start), (row, column))
        self._list(shown=False)
        return True
