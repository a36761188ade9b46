"""Two runs side by side, call by call: which calls were made, and what the model was told of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import zip_longest

from msgspec import Struct

from codeagent.core.events import AssistantSaid, Entry, Opened, ToolFinished
from codeagent.core.messages import Text, ToolUse

PLACE = "<project>"
"""Stands for the project's directory, so that two runs in different ones compare equal."""

_TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|seconds|sec)\b")
"""Durations in outputs (`in 0.004s`): two runs never agree on them."""

_LINES = 40
"""Most lines of one difference that are shown."""


class Called(Struct, frozen=True):
    """A call and its answer, None when there was none; `place` is the position of the reply that made it."""

    place: int
    use: ToolUse
    done: ToolFinished | None


class Parting(Struct, frozen=True):
    """Where two runs differ: the number of the call or reply from 1, what differs, and the difference as diff lines."""

    number: int
    what: str
    lines: tuple[str, ...]


def calls(entries: Sequence[Entry]) -> list[Called]:
    """Every call of a session in order, with its answer."""
    answers: dict[str, list[tuple[int, ToolFinished]]] = {}
    for position, entry in enumerate(entries):
        if isinstance(entry, ToolFinished):
            answers.setdefault(entry.use_id, []).append((position, entry))
    return [
        Called(position, use, next((done for at, done in answers.get(use.id, ()) if at > position), None))
        for position, entry in enumerate(entries)
        if isinstance(entry, AssistantSaid)
        for use in entry.uses
    ]


def compare(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Iterator[Parting]:
    """Where a second run parts from the first: its replies first, then its calls and what came of them."""
    here, there = place(ours), place(theirs)
    replies = zip_longest(*([e for e in run if isinstance(e, AssistantSaid)] for run in (ours, theirs)))
    for number, (was, now) in enumerate(replies, 1):
        found = difference(was.text if was else "", now.text if now else "", here, there)
        if found or was is None or now is None:
            yield Parting(number, f"reply {number}", found or _missing(was is None))
    for number, (first, second) in enumerate(zip_longest(calls(ours), calls(theirs)), 1):
        what = f"call {number}, {spelt(first or second)}"
        if first is None or second is None:
            yield Parting(number, what, _missing(first is None))
            continue
        asked = difference(_input(first.use), _input(second.use), here, there)
        if asked:
            yield Parting(number, f"{what}: what was asked", asked)
            continue
        told = results(first.done, second.done, here, there)
        if told:
            yield Parting(number, f"{what}: what came of it", told)


def results(was: ToolFinished | None, now: ToolFinished | None, here: str, there: str) -> tuple[str, ...]:
    """The difference of two answers as diff lines, empty when they tell the model the same."""
    return difference(told(was), told(now), here, there)


def place(entries: Sequence[Entry]) -> str:
    """The project's directory."""
    return next((entry.cwd for entry in entries if isinstance(entry, Opened)), "")


def told(done: ToolFinished | None) -> str:
    """What the model was told of a call, its outcome first when that was not simply done."""
    if done is None:
        return "(no answer)"
    words = "\n".join(b.text if isinstance(b, Text) else f"({b.media_type})" for b in done.blocks)
    return words if done.outcome == "done" else f"({done.outcome})\n{words}"


def spelt(called: Called | None) -> str:
    """The name of the tool."""
    return called.use.name if called else ""


def difference(was: str, now: str, here: str, there: str) -> tuple[str, ...]:
    """Two texts as diff lines, project directories and durations left aside; empty when they are equal."""
    old, new = plain(was, here), plain(now, there)
    if old == new:
        return ()
    lines = list(unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=1))[2:]
    more = len(lines) - _LINES
    return (*lines[:_LINES], f"... {more:,} more lines") if more > 0 else tuple(lines)


def plain(text: str, directory: str) -> str:
    """The text without what changes from run to run: the project's directory and durations."""
    text = text.replace(directory, PLACE) if directory else text
    return _TIMES.sub(r"N \1", text)


def _input(use: ToolUse) -> str:
    return f"{use.name} " + "\n".join(f"{key}: {value}" for key, value in sorted(use.input.items()))


def _missing(first: bool) -> tuple[str, ...]:
    return ("only the second run has it",) if first else ("only the first run has it",)
