"""What a run that was killed left open: calls whose end is not on record."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.events import NOT_LOADED, Entry, ToolFinished, ToolStarted, TurnEnded, UserSaid


def unfinished(entries: Sequence[Entry]) -> tuple[ToolStarted, ...]:
    """Calls of the last turn that began and have no result, in their order; none when that turn has ended.

    A turn ends with its `TurnEnded`, or unseen, when the person said something new after a kill.
    """
    begun: dict[str, ToolStarted] = {}
    for entry in entries:
        if entry is NOT_LOADED:
            continue
        match entry:
            case TurnEnded() | UserSaid(queued=""):
                begun.clear()
            case ToolStarted():
                begun[entry.use_id] = entry
            case ToolFinished():
                begun.pop(entry.use_id, None)
            case _:
                pass
    return tuple(begun.values())
