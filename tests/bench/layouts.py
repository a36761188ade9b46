"""How often a streamed reply lays the whole screen out: counted, so that no machine's speed matters."""

from __future__ import annotations

import asyncio

from textual.geometry import Size
from textual.screen import Screen

from codeagent.core.ports import Front
from codeagent.fronts.tui.app import Codeagent
from codeagent.options import Options
from tests.bench.run import Row
from tests.tui.desk import TestDesk
from tests.tui.played import desk

TOKENS = 600
RATE = 300
"""Tokens, and how many of them come in a second."""


class Counting(Screen[None]):
    """A screen that counts its layouts."""

    layouts = 0

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self.layouts += 1
        super()._refresh_layout(size, scroll)


class Counted(Codeagent):
    """The real front on it."""

    def get_default_screen(self) -> Screen[None]:
        return Counting(id="_default")


def row() -> Row:
    """One in a hundred tokens at most: a reply begins, panels come and go."""
    return Row("layouts of the whole screen per token", asyncio.run(_counted()) / TOKENS, 0.01)


async def _counted() -> int:
    def connect(front: Front, key: str, model: str, keep_key: bool) -> TestDesk:
        return desk(front, {"tokens": str(TOKENS), "rate": str(RATE)})

    app = Counted(Options(), connect)
    async with app.run_test(size=(120, 36)) as pilot:
        while app.talk.desk is None:
            await pilot.pause(0.01)
        screen = app.screen
        assert isinstance(screen, Counting)
        before = screen.layouts
        assert before, "the first paint lays out"
        app.talk.send("go")
        while app.talk.working:
            await pilot.pause(0.05)
        await pilot.pause()
        return screen.layouts - before
