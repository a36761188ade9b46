"""The composition root: options and settings become an agent and a front. Only this package knows concrete classes."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from codeagent.core.ports import Front
    from codeagent.options import Options

FRONTS = {
    "tui": "codeagent.fronts.tui.app:run",
    "repl": "codeagent.fronts.repl.app:run",
    "headless": "codeagent.fronts.headless:run",
}


def run(options: Options, front: str, *, wrap: Callable[[Front], Front] | None = None, pace: float = 0) -> int:
    """Start a front on a session; the exit code.

    `wrap` puts something between agent and front; `pace` slows scripts down, in characters a second.
    The session itself is opened when the front calls `connect`, after its first paint.
    """
    module, _, name = FRONTS[front].partition(":")
    start = cast("Callable[[Options, object], int]", getattr(importlib.import_module(module), name))

    def connect(shown: Front, *, key: str = "", model: str = "", keep_key: bool = False) -> object:
        from codeagent.wiring.ground import Ground
        from codeagent.wiring.house import House

        ground = Ground(options, os.environ, Path.home())
        house = House(options, ground, wrap(shown) if wrap else shown, pace=pace, headless=front == "headless")
        house.connect(key=key, model=model, keep_key=keep_key)
        return house

    return start(options, connect)
