"""The dialogs of docs/, from the real program: a recorded model asks for one thing after the other."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeagent.fronts.tui.app import Codeagent
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House
from tests.picturing import asked, save, until

PRICES = "".join(f"PRICE_{n} = {100 + n}\n" for n in range(1000))
CART = '''"""A cart."""


def subtotal(prices):
    return sum(prices)


def heaviest(weights):
    return max(weights, default=0)


def parcels(weights):
    return -(-sum(weights) // 30_000)


def shipping(prices):
    return 500 if subtotal(prices) < 5000 else 0


def tax(net, rate):
    return round(net * rate)


def net(gross, rate):
    return gross - tax(gross, rate)


def total(prices, discount):
    return subtotal(prices) * (1 - discount) + shipping(prices)
'''
SCRIPT_LINES = "\n".join(f"curl -fsS https://shop.example/items/{n} >> items.json" for n in range(1, 301))
QUESTION = {
    "question": "Where shall prices be rounded?",
    "options": [
        {"label": "In total()", "description": "once, at the end (recommended)"},
        {"label": "Per line", "description": "as printed on the receipt"},
    ],
}
PLAN = """## Round once

1. Add a test for 3 items at 33.33.
2. Round in `total()`, not in `subtotal()`.
3. Run the tests again.
"""
EDITS = [
    {"old_string": "return sum(prices)", "new_string": "return round(sum(prices))"},
    {"old_string": "500 if subtotal(prices) < 5000 else 0", "new_string": "0 if subtotal(prices) >= 5000 else 500"},
    {"old_string": "subtotal(prices) * (1 - discount) + ", "new_string": "round(subtotal(prices) * (1 - discount)) + "},
]


def script() -> str:
    """The recording: each step asks for one dialog."""
    steps: list[list[tuple[str, Any]]] = [
        [("read", {"file_path": "cart.py"}), ("read", {"file_path": "prices.py"})],
        [("bash", {"command": SCRIPT_LINES})],
        [("write", {"file_path": "prices.py", "content": PRICES.replace(" = ", " = 10 * ")})],
        [("edit", {"file_path": "cart.py", "edits": EDITS})],
        [("ask_user", {"questions": [QUESTION]})],
        [("bash", {"command": "sleep 300; echo served", "run_in_background": True})],
    ]
    lines = ["\n".join(f"call {tool} {json.dumps(args)}" for tool, args in step) for step in steps]
    plan = f"call present_plan {json.dumps({'plan': PLAN})}"
    return "\n---\n".join(
        [
            "say I look first.\n" + lines[0],
            *lines[1:],
            "say Done.",
            plan,
            "say As planned.",
        ]
    )


def opened(folder: Path, *, trusted: bool = True, model: str = "", **more: Any) -> Codeagent:
    """The full-screen app on a small project."""
    project, home = folder / "shop", folder / "home"
    (project / ".agent").mkdir(parents=True)
    home.mkdir()
    (project / "cart.py").write_text(CART)
    (project / "prices.py").write_text(PRICES)
    (folder / "asks.script").write_text(script())
    if not trusted:
        settings = {"permissions": {"allow": ["Bash(make:*)"]}, "statusLine": {"command": "./status.sh"}}
        (project / ".agent/settings.json").write_text(json.dumps(settings, indent=1))
    options = Options(cwd=str(project), model=model or f"script:{folder}/asks.script", **more)
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home)}

    def connect(front: object, **overrides: str) -> House:
        house = House(options, Ground(options, environ, home), front)  # type: ignore[arg-type]  # the bridge is a front
        house.connect(**overrides)  # type: ignore[arg-type]  # as above
        return house

    return Codeagent(options, connect)


Keep = Callable[[Codeagent, str], None]
"""Keeps a screen under a name."""


async def draw(size: tuple[int, int], folder: Path, into: Path, suffix: str = "") -> None:
    """Every dialog at this size."""

    def keep(app: Codeagent, name: str) -> None:
        save(app, f"dialog-{name}{suffix}", into)

    await _of_a_turn(size, folder / "turn", keep)
    await _at_the_start(size, folder, keep)


async def _of_a_turn(size: tuple[int, int], folder: Path, keep: Keep) -> None:
    app = opened(folder, prompt="round the prices")
    async with app.run_test(size=size) as pilot:

        async def shown(name: str, *keys: str) -> None:
            await pilot.press(*keys)
            await pilot.pause(0.3)
            keep(app, name)

        async def answered(*keys: str) -> None:
            before = app.screen
            await pilot.press(*keys)
            await until(pilot, lambda: app.screen is not before)

        async def page(name: str) -> None:
            app.page(f"/{name}")
            await asked(app, pilot)
            await shown(name)
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)

        await asked(app, pilot)
        await shown("command")
        await shown("command-read", "end")
        await shown("why", "w")
        await answered("3", "enter")
        await asked(app, pilot)
        await shown("change")
        await shown("change-large", "ctrl+e")
        await answered("3", "enter")
        await asked(app, pilot)
        await shown("edit")
        await shown("hunks", "h", "down", "space")
        await answered("end", "1")
        await asked(app, pilot)
        await shown("question")
        await answered("1")
        await until(pilot, lambda: not app.talk.working)
        await page("jobs")
        app.talk.send("/mode plan")
        await until(pilot, lambda: app.talk.desk is not None and app.talk.desk.agent.mode == "plan")
        app.talk.send("now plan it")
        await asked(app, pilot)
        await shown("plan")
        await answered("1")
        await until(pilot, lambda: not app.talk.working)
        first = app.talk.desk.agent if app.talk.desk else None
        app.talk.send("/new")
        await until(pilot, lambda: app.talk.desk is not None and app.talk.desk.agent is not first)
        await page("resume")


async def _at_the_start(size: tuple[int, int], folder: Path, keep: Keep) -> None:
    for name, more in {
        "trust": {"trusted": False},
        "no-key": {"model": "sonnet"},
        "limit": {"prompt": "round the prices", "max_turns": 1},
    }.items():
        app = opened(folder / name, **more)  # type: ignore[arg-type]  # options by name
        async with app.run_test(size=size) as pilot:
            await asked(app, pilot)
            keep(app, name)
