"""The line in which the conversation is searched: shown by a key, gone with Esc."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import Input


class Finder(Input):
    """Posts `Wanted` with what was typed, on Enter with `done`; hidden when it closes."""

    DEFAULT_CSS = "Finder { display: none; height: 1; border: none; padding: 0 1; background: $surface; }"

    class Wanted(Message):
        """Search for these words; `done` when they are complete."""

        def __init__(self, words: str, done: bool) -> None:
            super().__init__()
            self.words = words
            self.done = done

    class Left(Message):
        """It was closed without a search."""

    def __init__(self) -> None:
        super().__init__(id="find", compact=True, placeholder="search the conversation, then Enter; n and N go on")

    def open(self) -> None:
        """Show it and take the keys."""
        self.display = True
        self.value = ""
        self.focus()

    def close(self) -> None:
        """Go away."""
        self.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value, done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.post_message(self.Wanted(event.value, done=True))

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Left())
