"""Pictures of the real screen: waiting for a state, and keeping it as a PNG. Needs rsvg-convert (librsvg2-bin)."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from codeagent.fronts.tui.app import Codeagent

DOCS = Path(__file__).resolve().parent.parent / "docs"


async def until(pilot: Pilot[int], seen: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(60):
        while not seen():
            await pilot.pause(0.05)


async def asked(app: Codeagent, pilot: Pilot[int]) -> None:
    """Wait for a question that takes an answer."""
    await until(pilot, lambda: len(app.screen_stack) > 1 and not app.screen.has_class("-unarmed"))
    await pilot.pause(0.3)


def save(app: Codeagent, name: str, into: Path = DOCS) -> None:
    """The screen as it stands, as a PNG."""
    # Without this the converter drops blanks at the ends of runs, and words run together.
    svg = app.export_screenshot(title="codeagent").replace("<text ", '<text xml:space="preserve" ')
    with tempfile.NamedTemporaryFile("w", suffix=".svg") as file:
        file.write(svg)
        file.flush()
        subprocess.run(["rsvg-convert", "-o", str(into / f"{name}.png"), file.name], check=True)
