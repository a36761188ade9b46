"""The sub-agents of a session in words: what each was for, how it stands, what it cost, what it did. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from codeagent.core.budget import Meter, Used
from codeagent.core.clean import clean, clean_line
from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Compacted, Entry, Spent, ToolFinished, ToolStarted, TurnEnded, UserSaid
from codeagent.core.messages import ToolUse
from codeagent.fronts import calls, present


class Hire(Struct):
    """A sub-agent: its call, its label, the result once there is one, and what it cost so far."""

    use_id: str
    label: str
    meter: Meter
    done: ToolFinished | None = None


def hires(entries: Sequence[Entry]) -> list[Hire]:
    """All that these entries tell of, the oldest first."""
    found: dict[str, Hire] = {}
    for entry in entries:
        match entry:
            case ToolStarted(tool="task", use_id=use_id, label=label):
                found[use_id] = Hire(use_id, label, Meter())
            case ToolFinished(use_id=use_id) if use_id in found:
                found[use_id].done = entry
            case Spent(use_id=use_id) if use_id in found:
                found[use_id].meter.see(entry)
            case _:
                pass
    return list(found.values())


def together(entries: Sequence[Entry]) -> Used:
    """What all of them used, a part of the session's own figures; times of those that worked at once are added."""
    used = Used()
    for hire in hires(entries):
        used.usage += hire.meter.usage
        used.known_cost += hire.meter.known_cost
        used.unpriced = used.unpriced or hire.meter.unpriced
        used.requests += hire.meter.requests
        used.took_ms += hire.done.took_ms if hire.done else 0
    return used


def listed(entries: Sequence[Entry], working: bool) -> str:
    """The list for a person; `working` says whether a turn runs, or else what is unfinished was cut off."""
    rows = [f"{n:>3}  {clean_line(hire.label)}  ({_state(hire, working)})" for n, hire in enumerate(hires(entries), 1)]
    if not rows:
        return "No sub-agents were called in this session."
    return "\n".join([*rows, "What one did: /agents NUMBER"])


def _state(hire: Hire, working: bool) -> str:
    usage, money = hire.meter.usage, present.money(hire.meter.cost)
    if hire.done is None:
        return f"{'at work' if working else 'cut off'}, {usage.total:,} tokens, {money}"
    return ", ".join(filter(None, ("failed" if hire.done.is_error else "done", hire.done.summary, money)))


def chosen(entries: Sequence[Entry], words: str) -> Hire:
    """The one that a number or an id means. Raises UsageFault."""
    found = hires(entries)
    if words.isdecimal() and 0 < int(words) <= len(found):
        return found[int(words) - 1]
    for hire in found:
        if hire.use_id == words:
            return hire
    raise UsageFault(f"There is no sub-agent {words!r} in this session. /agents lists them.")


WIDE = 70
"""Characters of what a call is about."""


def story(entries: Sequence[Entry]) -> Iterator[str]:
    """What one did, from its transcript: its task, its words, a line for each call."""
    uses: dict[str, ToolUse] = {}
    for entry in entries:
        match entry:
            case UserSaid(text=text):
                yield f"task: {clean(text)}"
            case AssistantSaid(text=text):
                uses.update({use.id: use for use in entry.uses})
                if text:
                    yield clean(text)
            case ToolFinished(use_id=use_id, tool=tool):
                about = calls.subject(uses[use_id], WIDE) if use_id in uses else ""
                yield f"  {tool}  {about}: {calls.outcome(entry)}"
            case Compacted():
                yield "(what came before was summed up)"
            case TurnEnded(why=why) if why != "done":
                yield f"({present.ended(entry)[1]})"
            case _:
                pass
