"""Draws the pictures of docs/ from the real program: `python -m tests.pictures`. Needs rsvg-convert (librsvg2-bin).

`python -m tests.pictures DIRECTORY` draws every screen at three sizes into that directory instead, to be looked at.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from textual.pilot import Pilot

from codeagent.demo.tour import prepare
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.palette import LIGHT, PALETTES
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House
from tests import dialog_pictures
from tests.loopback import KEY, Loopback, call, say
from tests.picturing import DOCS, asked, save, until

SIZES = ((120, 36), (80, 24))
SMALL = (40, 12)
SHOWN = ("help", "model", "theme", "config", "inspect", "cost", "status", "permissions", "memory", "audit", "rewind")
"""Pages that have a picture each, by their commands."""


def tour(folder: Path, palette: object = None) -> Codeagent:
    """The demo's session in the full-screen front, without its pauses."""
    folder.mkdir()
    found = prepare(folder, search_path=os.environ["PATH"])
    options = Options(
        prompt=found.prompt, model=f"script:{found.script}", allowed_tools=found.rules, cwd=str(found.root)
    )
    home = folder / "home"
    home.mkdir()
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home)}

    def connect(front: object, **overrides: str) -> House:
        house = House(options, Ground(options, environ, home), front)  # type: ignore[arg-type]  # the bridge is a front
        house.connect(**overrides)  # type: ignore[arg-type]  # as above
        return house

    return Codeagent(options, connect, palette)  # type: ignore[arg-type]  # a palette or None


async def demo(size: tuple[int, int], folder: Path) -> None:
    """The dialog, and the end of the story."""
    app = tour(folder)
    label = f"{size[0]}x{size[1]}"
    async with app.run_test(size=size) as pilot:
        await asked(app, pilot)
        save(app, f"demo-{label}")
        await pilot.press("1")
        await until(pilot, lambda: len(app.screen_stack) == 1 and not app.talk.working)
        await pilot.pause(0.3)
        save(app, f"demo-done-{label}")


async def screens(size: tuple[int, int], folder: Path, into: Path, suffix: str = "") -> None:
    """Every page, over the end of the story."""
    app = tour(folder)
    async with app.run_test(size=size) as pilot:
        await asked(app, pilot)
        await pilot.press("1")
        await until(pilot, lambda: len(app.screen_stack) == 1 and not app.talk.working)
        for name in SHOWN:
            app.page(f"/{name}")
            await until(pilot, lambda: len(app.screen_stack) == 2)
            await pilot.pause(0.3)
            save(app, f"screen-{name}{suffix}", into)
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)
        await moments(app, pilot, into, suffix)


async def moments(app: Codeagent, pilot: Pilot[int], into: Path, suffix: str) -> None:
    """What keys bring up without a page: a search, the copy list, what was said, completion, another theme."""
    await pilot.press("ctrl+f", *"total", "enter")
    await pilot.pause(0.3)
    save(app, f"screen-search{suffix}", into)
    await pilot.press("escape")
    app.transcript.action_tail()
    for name, key in (("copy", "alt+c"), ("history", "ctrl+r")):
        await pilot.press(key)
        await pilot.pause(0.3)
        save(app, f"screen-{name}{suffix}", into)
        await pilot.press("escape")
    await pilot.press("/")
    await pilot.pause(0.3)
    save(app, f"screen-commands{suffix}", into)
    await pilot.press("backspace", "ctrl+o")
    for theme in ("light-safe", "terminal"):
        app.paint(PALETTES[theme][0])
        await pilot.pause(0.3)
        save(app, f"screen-{theme}{suffix}", into)


async def light(folder: Path) -> None:
    """The dialog in the light theme."""
    app = tour(folder, LIGHT)
    async with app.run_test(size=(100, 30)) as pilot:
        await asked(app, pilot)
        save(app, "demo-light")


def paid(folder: Path, server: Loopback) -> Codeagent:
    """A session at the prices of a real model, which a local server plays."""
    project, home = folder / "shop", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    (project / "CLAUDE.md").write_text("# Shop\n\nRun the tests with python -m unittest -q.\n" * 12)
    (project / "cart.py").write_text("def total(prices, discount):\n    return sum(prices)\n" * 300)
    options = Options(prompt="What is in the cart?", cwd=str(project), permission_mode="bypass")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.url,
    }

    def connect(front: object, **overrides: str) -> House:
        house = House(options, Ground(options, environ, home), front)  # type: ignore[arg-type]  # the bridge is a front
        house.connect(**overrides)  # type: ignore[arg-type]  # as above
        return house

    return Codeagent(options, connect)


async def context(folder: Path) -> None:
    """What fills the window, and what it cost."""
    replies = [
        call("read", file_path="cart.py"),
        call("bash", command="seq 1500"),
        *(call("read", file_path="cart.py", offset=200 * n + 1, limit=190) for n in range(3)),
        *(call("bash", command=f"seq {n}000 {n}999") for n in range(1, 6)),
        say("It holds prices and a discount."),
        say("1. Goal: know what is in the cart.\n2. Found: prices, and a discount that is not taken off."),
    ]
    with Loopback(replies) as server:
        app = paid(folder, server)
        async with app.run_test(size=(100, 34)) as pilot:
            await until(
                pilot, lambda: app.talk.desk is not None and len(server.requests) == 11 and not app.talk.working
            )
            app.page("/context")
            await until(pilot, lambda: len(app.screen_stack) > 1)
            await pilot.pause(0.5)
            save(app, "context")
            await pilot.press("escape")
            app.talk.send("/cost")
            await pilot.pause(1)
            save(app, "cost")
            app.talk.send("/compact")
            await asked(app, pilot)
            save(app, "dialog-compact")
            price = app.screen
            await pilot.press("1")
            await until(pilot, lambda: app.screen is not price)
            await asked(app, pilot)
            save(app, "dialog-summary")


async def main() -> None:
    """All pictures."""
    with tempfile.TemporaryDirectory(prefix="codeagent-pictures-") as folder:
        if sys.argv[1:]:
            for size in (*SIZES, SMALL):
                label = f"-{size[0]}x{size[1]}"
                into, place = Path(sys.argv[1]), Path(folder) / f"all{label}"
                await screens(size, place, into, label)
                await dialog_pictures.draw(size, place, into, label)
            return
        await screens((100, 30), Path(folder) / "screens", DOCS)
        for size in SIZES:
            await demo(size, Path(folder) / f"at{size[0]}")
        await light(Path(folder) / "light")
        await context(Path(folder) / "paid")
        await dialog_pictures.draw(SIZES[1], Path(folder) / "dialogs", DOCS)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
