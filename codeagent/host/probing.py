"""Asks the terminal what it can do and how quickly it answers; leaves it as it was."""

from __future__ import annotations

import os
import re
import select
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

ROUNDS = 10
"""Questions for the cursor's place, each one round through everything between us and the screen."""

PATIENCE = 1.0
"""Seconds for an answer; a terminal on the other side of the world takes half of one."""

_ABILITIES = {
    "keys": (b"\x1b[?u", rb"\x1b\[\?\d+u"),
    "whole frames": (b"\x1b[?2026$p", rb"\x1b\[\?2026;[123]\$y"),
    "background": (b"\x1b]11;?\x1b\\", rb"\x1b\]11;rgb:([0-9a-fA-F/]+)"),
}
"""Ability -> the question for it, and how a yes looks."""

_IDENTITY = (b"\x1b[c", rb"\x1b\[\?[\d;]*c")
"""What every terminal answers: what did not come before it does not come."""
_CURSOR = (b"\x1b[6n", rb"\x1b\[\d+;\d+R")


class Probed(NamedTuple):
    """What a terminal said. `echoes` are seconds of each round, none when it does not answer.

    `keys`: keys with modifiers can be told apart (the kitty protocol). `whole_frames`: it shows a frame at once.
    `light`: its background; None when it does not say.
    """

    columns: int
    rows: int
    echoes: tuple[float, ...] = ()
    keys: bool = False
    whole_frames: bool = False
    light: bool | None = None


def probe(typed: int, shown: int) -> Probed:
    """Ask the terminal behind these descriptors. Keys that were pressed meanwhile are lost. Raises OSError."""
    columns, rows = os.get_terminal_size(shown)
    with _raw(typed):
        said = _asked(
            typed, shown, b"".join(question for question, _ in _ABILITIES.values()) + _IDENTITY[0], _IDENTITY[1]
        )
        if said is None:
            return Probed(columns, rows)
        found = {name: re.search(answer, said) for name, (_, answer) in _ABILITIES.items()}
        echoes = []
        for _ in range(ROUNDS):
            began = time.monotonic()
            if _asked(typed, shown, *_CURSOR) is None:
                break
            echoes.append(time.monotonic() - began)
    colour = found["background"]
    light = _is_light(colour[1].decode()) if colour else None
    return Probed(columns, rows, tuple(echoes), bool(found["keys"]), bool(found["whole frames"]), light)


def pressed(typed: int, see: Callable[[bytes], bool]) -> None:
    """Hand each key, as the bytes that arrive together, to `see` until it says False. Raises OSError."""
    with _raw(typed):
        while (data := os.read(typed, 64)) and see(data):
            pass


@contextmanager
def _raw(typed: int) -> Iterator[None]:
    """Every byte comes as it is pressed, unechoed; put back on every way out."""
    before = termios.tcgetattr(typed)
    try:
        tty.setraw(typed, termios.TCSANOW)
        yield
    except termios.error as fault:
        raise OSError(*fault.args) from None
    finally:
        termios.tcsetattr(typed, termios.TCSAFLUSH, before)


def _asked(typed: int, shown: int, question: bytes, answer: bytes) -> bytes | None:
    """What came up to and with the answer; None when it does not come."""
    os.write(shown, question)
    said, end = b"", time.monotonic() + PATIENCE
    while not re.search(answer, said):
        ready, _, _ = select.select([typed], [], [], max(0.0, end - time.monotonic()))
        data = os.read(typed, 1024) if ready else b""
        if not data:
            return None
        said += data
    return said


def _is_light(colour: str) -> bool | None:
    """Whether `rrrr/gggg/bbbb` is rather light."""
    parts = colour.split("/")
    if len(parts) != 3 or not all(parts):
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in parts)
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)
