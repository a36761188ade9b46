"""What of a session's beginning still matters once it has been summed up: few entries, slim, in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from codeagent.core.budget import Meter
from codeagent.core.events import (
    NOT_LOADED,
    AssistantSaid,
    Earlier,
    Entry,
    Noted,
    Opened,
    Queued,
    Rewound,
    Saw,
    Switched,
    Titled,
    ToolFinished,
    UserSaid,
)
from codeagent.core.messages import Usage
from codeagent.core.views import Todo


class Settling:
    """Sees the entries before a summary one by one, keeps what a resumed session asks of them, counts the rest.

    Kept are: the opening, the title, every switch, messages still waiting, the guidelines as last told, the last
    reply's id; and in one `Earlier` the figures, the last sight of each file, the shell's directory, the todo list.
    """

    def __init__(self) -> None:
        self._meter = Meter()
        self._count = 0
        self._kept: dict[str, tuple[int, Entry]] = {}
        """Position and entry by what the entry says; a later one that says the same takes its place."""
        self._saw: dict[str, Saw] = {}
        self._cwd = ""
        self._todos: list[tuple[int, Todo | Rewound]] = []

    def see(self, position: int, entry: Entry) -> None:
        """Take the next entry; positions may have gaps."""
        self._meter.see(entry)
        self._count += entry.count if isinstance(entry, Earlier) else 1
        match entry:
            case Opened():
                self._kept["opened"] = position, entry
            case Titled():
                self._kept["title"] = position, entry
            case Switched():
                self._kept[f"switch {position}"] = position, entry
            case Queued(withdrawn=False):
                self._kept[f"queued {entry.id}"] = position, entry
            case Queued() | UserSaid():
                self._kept.pop(f"queued {entry.id if isinstance(entry, Queued) else entry.queued}", None)
            case Noted(topic=topic) if entry.digest:
                self._kept[f"note {topic}"] = position, replace(entry, to="person", text="")
            case AssistantSaid():
                slim = replace(entry, blocks=(), usage=Usage(), cost=0.0, first_ms=0, took_ms=0)
                self._kept["reply"] = position, slim
            case ToolFinished() | Earlier():
                self._see_work(position, entry)
            case Rewound(conversation=True):
                self._todos.append((position, entry))
            case _:
                pass

    def _see_work(self, position: int, done: ToolFinished | Earlier) -> None:
        self._saw.update((saw.path, saw) for saw in done.saw)
        self._cwd = done.cwd or self._cwd
        view = done.todo if isinstance(done, Earlier) else done.view
        if isinstance(view, Todo):
            self._todos.append((position, view))

    def entries(self) -> dict[int, Entry]:
        """What is kept, by position; at -1 the `Earlier` that stands for the rest."""
        kept = dict(sorted(self._kept.values(), key=lambda placed: placed[0]))
        meter = self._meter
        rest = Earlier(
            self._count - len(kept),
            meter.usage,
            meter.cost,
            meter.requests,
            meter.tool_calls,
            meter.turns,
            meter.model_ms,
            meter.tool_ms,
            meter.turn_ms,
            tuple(self._saw.values()),
            self._cwd,
            next(iter(reversed(_standing(self._todos))), None),
        )
        return {-1: rest, **kept}


def _standing(told: Sequence[tuple[int, Todo | Rewound]]) -> list[Todo]:
    """The todo lists that no rewind took back."""
    path: list[Todo] = []
    for at, (position, entry) in enumerate(told):
        if isinstance(entry, Rewound):
            back = min(entry.to, position)
            path = _standing([each for each in told[:at] if each[0] < back])
        else:
            path.append(entry)
    return path


def spread(kept: Mapping[int, Entry], upto: int) -> list[Entry]:
    """A list of `upto` entries with the kept ones in their places, and the figures of the rest in the first gap."""
    made: list[Entry] = [NOT_LOADED] * upto
    for position, entry in kept.items():
        if position >= 0:
            made[position] = entry
    gap = next((at for at, entry in enumerate(made) if entry is NOT_LOADED), None)
    if gap is not None:
        made[gap] = kept[-1]
    return made
