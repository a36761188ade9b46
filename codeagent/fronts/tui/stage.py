"""What a dialog is told when it is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from msgspec import Struct

from codeagent.core.effects import Effect
from codeagent.fronts.tui.palette import Glyphs, Palette


async def _unforeseen(_tool: str, _given: Mapping[str, Any]) -> None:
    """Nobody knows what it would do."""


class Stage(Struct, frozen=True):
    """What a dialog gets of its surroundings.

    `cover` is told how many rows the dialog takes at the bottom, so that the conversation makes room.
    `foresee` tells what a tool would do with an input, in words why it could not, or None where nobody knows.
    `last_key` tells when a key was last pressed (monotonic seconds); `stray` takes characters that
    were meant for the composer; `place` is (this one, how many) when several questions wait.
    """

    palette: Palette
    glyphs: Glyphs
    last_key: Callable[[], float] = lambda: 0.0
    cover: Callable[[int], None] = lambda _: None
    stray: Callable[[str], None] = lambda _: None
    place: tuple[int, int] = (1, 1)
    now: Callable[[], float] = monotonic
    foresee: Callable[[str, Mapping[str, Any]], Awaitable[Effect | str | None]] = _unforeseen
