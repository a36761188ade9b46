"""What a question about an effect shows: the effect in full, what of it lies outside, why it is asked, what keys do."""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip

from codeagent.core.clean import clean
from codeagent.core.effects import Effect, Verdict
from codeagent.core.views import Diff, Listing, Plain, Shell, Todo, View
from codeagent.fronts.tui.palette import Palette
from codeagent.fronts.tui.render import Painter

KEYS = (
    ("1 2 3", "answer; Enter takes the row with the mark, arrows move it"),
    ("Esc", "closes what you opened here; then it is a no"),
    ("Tab", "adds words to the answer"),
    ("w", "why am I asked"),
    ("e", "rewrite the call first"),
    ("h", "take a change hunk by hunk, where it has several"),
    ("Ctrl+E", "larger, smaller"),
    ("Page Down, End", "read on; a yes needs that all was on the screen"),
)
COLUMN = 16


def effect(it: Effect, painter: Painter, width: int) -> list[Strip]:
    """All that a yes would let happen."""
    rows = view(it.view, painter, width)
    for touch in it.touches:
        if touch.place != "inside":
            where = "outside the project" if touch.place == "outside" else touch.why or "a protected place"
            rows += painter.plain(f"{touch.access}s {clean(touch.path)}: {clean(where)}", "warning", width)
    if it.host:
        rows += painter.plain(f"reaches {clean(it.host)}", "warning", width)
    if it.cwd and isinstance(it.view, Shell):
        rows += painter.plain(f"in {clean(it.cwd)}", "muted", width)
    return rows


def view(shown: View, painter: Painter, width: int) -> list[Strip]:
    """A view as it stands in a dialog."""
    match shown:
        case Shell(command=command):
            return painter.plain(clean(command), "text", width)
        case Diff() as diff:
            return painter.diff(diff, width)
        case Plain(text=text):
            return painter.plain(clean(text), "text", width)
        case Listing(lines=lines):
            return painter.plain(clean("\n".join(lines)), "text", width)
        case Todo(items=items):
            return painter.plain("\n".join(clean(item.text) for item in items), "text", width)


def why(verdict: Verdict, painter: Painter, width: int, p: Palette) -> list[Strip]:
    """The reasons, part by part, and what would change them."""
    rows = painter.plain(clean(verdict.why) or "No rule allows this.", "text", width)
    if verdict.rule:
        rows += painter.plain(f"rule {clean(verdict.rule)}  {clean(verdict.where)}", "muted", width)
    for text, decision, reason in verdict.parts:
        line = Text(f"  {decision:<6}", p.accent if decision == "allow" else p.warning)
        line.append(f"{clean(text)}  ", p.text).append(clean(reason), p.muted)
        rows += [painter.strip(piece) for piece in line.wrap(painter.console, width)]
    if verdict.ways:
        rows += painter.plain("What would change it:", "muted", width)
    for way in verdict.ways:
        rows += painter.plain(f"- {clean(way)}", "muted", width, "  ")
    return rows


def keys(painter: Painter, width: int, p: Palette) -> list[Strip]:
    """The keys of such a question."""
    rows: list[Strip] = []
    for key, words in KEYS:
        first, *more = painter.plain(words, "text", width, " " * COLUMN)
        rows.append(Strip([*painter.strip(Text(f"{key:<{COLUMN}}", p.accent)), *first.crop(COLUMN)]))
        rows += more
    return rows
