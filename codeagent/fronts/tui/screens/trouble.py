"""When the session cannot be opened: what came, and the ways on from here."""

from __future__ import annotations

from msgspec import Struct
from textual.widget import Widget
from textual.widgets import Input

from codeagent.core.clean import clean
from codeagent.core.errors import CodeagentError, ModelUnavailable
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet
from codeagent.fronts.tui.widgets.words import Words

OFFLINE = "offline"
"""The model name of the stand-in that needs no network."""


class NextTry(Struct, frozen=True):
    """What to do now: call `connect` with a key or a model, or start the program anew for the tour."""

    key: str = ""
    model: str = ""
    tour: bool = False


class Trouble(Dialog[NextTry | None]):
    """Dismissed with what to try next, or None to leave. Without a key it offers three ways on."""

    GUARDED = False

    def __init__(self, error: CodeagentError, stage: Stage) -> None:
        self._error = error
        self._keyless = isinstance(error, ModelUnavailable) and error.category == "authentication_failed"
        self._kept = "it holds for this session: no keyring works here to keep it"
        if self._keyless:
            from codeagent.host.keys import keyring_works  # its library is there by now: a key was looked for

            self._kept = "it is kept in the system's keyring" if keyring_works() else self._kept
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return ("No key for the model yet" if self._keyless else "This did not work"), ""

    def body(self) -> list[Widget]:
        words = clean(str(self._error))
        return [
            Sheet(
                lambda width: Painter(self.stage.palette, self.stage.glyphs, width).plain(words, "text", width),
                id="body",
            ),
            Words(self.stage.glyphs, "paste the key, then Enter", password=True),
        ]

    def items(self) -> tuple[Item, ...]:
        if self._keyless:
            return (
                Item("Enter a key", self._kept, "1"),
                Item("Try the offline stand-in", "no language model, but real tools on your project", "2"),
                Item("Take the tour", "a recorded session on a small sample project", "3"),
            )
        return (Item("Try again", key="1"), Item("Leave", key="2"))

    def hints(self, wide: bool) -> str:
        return "enter use this key   esc back" if self.has_class("-words") else "esc leave"

    def choose(self, index: int) -> None:
        if not self._keyless:
            self.dismiss(None if index else NextTry())
        elif index:
            self.dismiss(NextTry(model=OFFLINE) if index == 1 else NextTry(tour=True))
        else:
            self.set_class(True, "-words")
            self.query_one("#words", Input).focus()
            self.dress()

    def decline(self) -> None:
        if self.has_class("-words"):
            self.set_class(False, "-words")
            self.set_focus(None)
            self.dress()
        else:
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        from codeagent.models.failures import key_flaw

        key = event.value.strip()
        if flaw := key_flaw(key):
            event.input.value, event.input.placeholder = "", flaw
        elif key:
            self.dismiss(NextTry(key=key))
