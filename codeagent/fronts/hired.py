"""The sub-agents of a session as a list: what each was for, how it stands, what it cost. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from codeagent.core.budget import Meter
from codeagent.core.clean import clean_line
from codeagent.core.errors import UsageFault
from codeagent.core.events import Entry, Spent, ToolFinished, ToolStarted
from codeagent.fronts import present


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
