"""The least that a chat in Textual can be, which the real front is compared with: `python -m tests.bench.bare_chat`.

One Markdown widget a reply, a TextArea, a footer. Enter streams 2,400 tokens at 200 a second, made by itself.
"""

from __future__ import annotations

import asyncio

from textual import events, work
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Markdown, TextArea

from tests.bench.prose import RATE, tokens


class Box(TextArea):
    """Enter sends."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.text = ""
            self.app.query_one(VerticalScroll).anchor()
            self.app.reply()  # type: ignore[attr-defined]  # the app below
        else:
            await super()._on_key(event)


class BareChat(App[None]):
    """The app."""

    CSS = "VerticalScroll { height: 1fr; } Box { height: 5; }"
    AUTO_FOCUS = "#box"

    def compose(self) -> ComposeResult:
        yield VerticalScroll()
        yield Box(id="box", placeholder="Write here")
        yield Footer()

    @work
    async def reply(self) -> None:
        """Stream a reply."""
        shown = Markdown()
        await self.query_one(VerticalScroll).mount(shown)
        stream = Markdown.get_stream(shown)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, token in enumerate(tokens(), 1):
            await stream.write(token)
            if (ahead := began + number / RATE - loop.time()) > 0.002:
                await asyncio.sleep(ahead)
        await stream.stop()


if __name__ == "__main__":
    BareChat().run()
