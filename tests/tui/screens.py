"""Screens as text: every row, and below it what each cell looks like. `python -m tests.tui.screens` draws them anew.

Look at the difference before it is committed: the pictures of `python -m tests.pictures DIRECTORY` help.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from textual.color import Color

from codeagent.core.effects import AskPermission, AskUser, AskValve, Choice, Effect, Question, Risk, Verdict
from codeagent.core.events import AssistantSaid, Entry, Opened, ToolFinished, ToolStarted, TurnEnded, UserSaid
from codeagent.core.listed import ListedJob
from codeagent.core.messages import Text, ToolUse
from codeagent.core.views import Diff, Hunk, Shell
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.palette import PALETTES
from codeagent.options import Options
from tests.tui.desk import seated, until

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "screens"
LETTERS = ascii_letters + digits
SIZES = ((120, 36), (80, 24), (40, 12))

WORDS = "The discount is taken **twice**:\n\n```python\nreturn self.subtotal()  # once\n```\n\nSee [the docs](https://x.org)."
DIFF = Diff("shop/cart.py", (Hunk(29, 29, (" def total(self):", "-    return a * b", "+    return a")),), 1, 1)
HUNKS = Diff(
    "shop/cart.py",
    (
        Hunk(
            4,
            4,
            ("     @property", "     def total(self):", "-        return self.a * b", "+        return self.a", " "),
        ),
        Hunk(15, 15, ("     def describe(self):", "+        # in short", '+        name = self.name or "cart"')),
        Hunk(40, 42, (" def main():", "-    print(cart.total)", '-    print("bye")', "+    print(cart.total, end='')")),
    ),
    4,
    3,
)
STORY: tuple[Entry, ...] = (
    Opened("s", "/p", ("sys",), (), "m", 1000),
    UserSaid((Text("the cart total is wrong, please fix it"),)),
    AssistantSaid(
        (Text(WORDS), ToolUse("1", "bash", {"command": "make"}), ToolUse("2", "edit", {"path": "shop/cart.py"}))
    ),
    ToolStarted("1", "bash", "make", "Run", Shell("make"), 0, "k1"),
    ToolFinished("1", "bash", (), True, "failed", "exit 2", Shell("make", output="no rule\nstop"), 400),
    ToolStarted("2", "edit", "shop/cart.py", "Edit", DIFF, 0, "k2"),
    ToolFinished("2", "edit", (), view=DIFF),
    TurnEnded("done"),
)
JOBS = (ListedJob("job1", "python -m http.server", 12.0, None, False, "/tmp/x"),)
Act = Callable[[Codeagent, Any], Awaitable[object]]


def page(name: str) -> Act:
    """Open a page."""

    async def act(app: Codeagent, pilot: Any) -> None:
        app.page(name)
        await until(pilot, lambda: len(app.screen_stack) == 2)

    return act


def keys(*pressed: str) -> Act:
    """Press keys."""
    return lambda _app, pilot: pilot.press(*pressed)


def asked(question: Question) -> Act:
    """Ask, and wait until answers count."""

    async def act(app: Codeagent, pilot: Any) -> None:
        app.run_worker(app.bridge.ask(question), exit_on_error=False)
        await until(pilot, lambda: len(app.screen_stack) == 2 and not app.screen.has_class("-unarmed"))

    return act


def themed(name: str) -> Act:
    """Other colours."""

    async def act(app: Codeagent, _pilot: Any) -> None:
        app.paint(PALETTES[name][0])

    return act


def then(*acts: Act) -> Act:
    """One after the other."""

    async def act(app: Codeagent, pilot: Any) -> None:
        for each in acts:
            await each(app, pilot)

    return act


def _permission(view: Any, title: str, risk: Risk, always: str) -> AskPermission:
    parts = isinstance(view, Diff) and len(view.hunks) > 1
    effect = Effect("bash", title, title, risk, view, cwd="/p", hunkwise=parts)
    return AskPermission("1", effect, Verdict("ask", "mode", "No rule allows this."), {}, always)


CASES: dict[str, Act] = {
    "story": keys(),
    "light": themed("light"),
    "dark-safe": themed("dark-safe"),
    "terminal": themed("terminal"),
    "ascii": keys(),
    "completion": keys("/"),
    "search": keys("ctrl+f", *"total", "enter"),
    "help": page("/help"),
    "model": page("/model"),
    "colours": page("/theme"),
    "settings": page("/config"),
    "jobs": page("/jobs"),
    "permissions": page("/permissions"),
    "memory": page("/memory"),
    "edit": asked(_permission(DIFF, "Edit shop/cart.py", Risk.MEDIUM, "accept edits in this session")),
    "hunks": then(
        asked(_permission(HUNKS, "Edit shop/cart.py", Risk.MEDIUM, "accept edits in this session")),
        keys("h", "down", "space"),
    ),
    "command": asked(_permission(Shell("rm -r build"), "Run a command", Risk.HIGH, "")),
    "question": asked(AskUser("1", "Which one?", choices=(Choice("This", "the first"), Choice("That", "the second")))),
    "limit": asked(AskValve("steps", "Used 50 steps.", 50, 100)),
}


def drawn(app: Codeagent) -> str:
    """The screen: rows, each with a letter for the look of its cells below; the letters are explained at the end."""
    looks: dict[str, str] = {}
    lines: list[str] = []
    for strip in app.screen._compositor.render_strips(app.size):
        letters = ""
        for segment in strip:
            style = segment.style
            look = "plain" if style is None else _look(style)
            letter = looks.setdefault(look, LETTERS[len(looks) % len(LETTERS)])
            letters += letter * len(segment.text)
        lines += [strip.text.rstrip(), letters.rstrip(letters[-1:])]
    return "\n".join([*lines, *(f"{letter} {look}" for look, letter in looks.items())]) + "\n"


def _look(style: Any) -> str:
    def colour(value: Any) -> str:
        return "-" if value is None else Color.from_rich_color(value).hex if value.triplet else str(value.name)

    marks = [name for name in ("bold", "italic", "underline", "reverse", "dim") if getattr(style, name)]
    return " ".join((colour(style.color), colour(style.bgcolor), *marks))


async def shoot(name: str, size: tuple[int, int]) -> str:
    """One of `CASES` at a size."""
    app = seated(entries=STORY, jobs=JOBS, options=Options(ascii=name == "ascii"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.talk.desk and app.transcript.page.total)
        await CASES[name](app, pilot)
        if app.status._hint:
            app.status._clear_hint()
        await pilot.pause(0.15)
        return drawn(app)


def path(name: str, size: tuple[int, int]) -> Path:
    """Where its picture is kept."""
    return GOLDEN / f"{name}-{size[0]}x{size[1]}.txt"


async def main() -> None:
    """Draw all anew."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        for size in SIZES:
            path(name, size).write_text(await shoot(name, size), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
