"""What a dialog is told when it is made."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from codeagent.fronts.tui.palette import Glyphs, Palette


class Stage(Struct, frozen=True):
    """What a dialog gets of its surroundings.

    `cover` is told how many rows the dialog takes at the bottom, so that the conversation makes room.
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
