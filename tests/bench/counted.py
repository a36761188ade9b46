"""How often a streamed reply lays the screen out, and draws: counted, so that no machine's speed matters."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.screen import Screen

from codeagent.core.ports import Front
from codeagent.fronts.tui.app import Codeagent
from codeagent.options import Options
from tests.bench.run import Row
from tests.tui.desk import TestDesk
from tests.tui.played import desk

if TYPE_CHECKING:
    from rich.console import RenderableType

TOKENS = 1200
RATE = 300
"""Tokens, and how many of them come in a second."""


class Counting(Screen[None]):
    """A screen that counts its layouts."""

    layouts = 0

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self.layouts += 1
        super()._refresh_layout(size, scroll)


class Counted(Codeagent):
    """The real front on it, which counts its frames."""

    frames = 0

    def get_default_screen(self) -> Screen[None]:
        return Counting(id="_default")

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        self.frames += 1
        super()._display(screen, renderable)


def rows() -> list[Row]:
    """A layout in a hundred tokens at most (panels come and go); ten frames a second, the eager ones, the spinner."""
    layouts, frames = asyncio.run(_counted())
    return [
        Row("layouts of the whole screen per token", layouts / TOKENS, 0.01),
        Row("frames a second while streaming", frames * RATE / TOKENS, 20),
    ]


async def _counted() -> tuple[int, int]:
    """Layouts and frames of one streamed reply."""

    def connect(front: Front, key: str, model: str, keep_key: bool) -> TestDesk:
        return desk(front, {"tokens": str(TOKENS), "rate": str(RATE)})

    app = Counted(Options(), connect)
    async with app.run_test(size=(120, 36)) as pilot:
        while app.talk.desk is None:
            await pilot.pause(0.01)
        screen = app.screen
        assert isinstance(screen, Counting)
        layouts, frames = screen.layouts, app.frames
        assert layouts, "the first paint lays out"
        app.talk.send("go")
        while app.talk.working:
            await pilot.pause(0.05)
        await pilot.pause()
        return screen.layouts - layouts, app.frames - frames
