"""Going back: which points there are, which files that would change, and doing it, on record and undoable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from msgspec import Struct

from codeagent.core.conversation import live
from codeagent.core.errors import UsageFault
from codeagent.core.events import Changed, Entry, Noted, Prepared, Rewound, ToolFinished, ToolStarted, UserSaid
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.journal import Journal
from codeagent.core.ports import Conflict, Restoring, Snapshots

NAMED = 20
"""Files that a note to the model names at most."""

MOVED = "The user went back to an earlier point and had these files put back to what they were then: {files}. "
STAYED = (
    "The user went back to this point of the conversation, but the files stayed as later steps left them. "
    "Changed since this point: {files}. "
)
READ_AGAIN = "Read a file again before you rely on what it holds."


class Point(Struct, frozen=True):
    """A place to go back to: just before entry `to`.

    `text` are the user's words that were said there, and `files` what changed from there to the next message.
    `undo` marks the point before the latest rewind, `rewound` what that one took back.
    """

    to: int
    text: str
    files: tuple[FileChange, ...] = ()
    undo: bool = False
    rewound: Rewound | None = None


class Preview(Struct, frozen=True):
    """What going back to a point would do to files: those that differ, and what stands against putting them back."""

    point: Point
    plan: tuple[Restoring, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


class WentBack(Struct, frozen=True):
    """A rewind that was done: the words that were taken back, the files put back, and what could not be."""

    text: str
    files: tuple[FileChange, ...] = ()
    troubles: tuple[Conflict, ...] = ()


def points(entries: Sequence[Entry]) -> tuple[Point, ...]:
    """Every message of the conversation as it stands, oldest first, and then the undoing of the latest rewind."""
    places = [position for position in live(entries) if isinstance(entries[position], UserSaid)]
    found = []
    for place, end in zip(places, [*places, len(entries)][1:], strict=True):
        said = entries[place]
        assert isinstance(said, UserSaid), "chosen as one above"
        found.append(Point(place, said.text, net(entries[place:end])))
    last = next((i for i in reversed(range(len(entries))) if isinstance(entries[i], Rewound)), None)
    if last is not None:
        rewound = entries[last]
        assert isinstance(rewound, Rewound), "found as one above"
        before = last - 1 if isinstance(entries[last - 1], Changed) and rewound.files else last
        found.append(Point(before, "", net(entries[before:]), undo=True, rewound=rewound))
    return tuple(found)


def net(entries: Iterable[Entry]) -> tuple[FileChange, ...]:
    """What these entries did to files altogether, one change a path, in the order of the first."""
    first: dict[str, FileState] = {}
    last: dict[str, FileState] = {}
    for entry in entries:
        if isinstance(entry, Changed):
            for change in entry.files:
                first.setdefault(change.path, change.before)
                last[change.path] = change.after
    return tuple(FileChange(path, first[path], last[path]) for path in first if first[path] != last[path])


def restorings(entries: Sequence[Entry], to: int) -> tuple[Restoring, ...]:
    """What files have to become just before entry `to`. Time on the disk runs straight on, rewinds included."""
    first: dict[str, FileState] = {}
    last: dict[str, FileState] = {}
    for entry in entries[to:]:
        if isinstance(entry, Changed):
            for change in entry.files:
                first.setdefault(change.path, change.before)
                last[change.path] = change.after
    return tuple(Restoring(path, first[path], last[path]) for path in first)


class Rewind:
    """Goes back in one journal; without snapshots only the conversation does."""

    def __init__(self, journal: Journal, snapshots: Snapshots | None) -> None:
        self._journal, self._snapshots = journal, snapshots
        self._settling = asyncio.Lock()

    async def settle(self) -> None:
        """Put on record what calls changed that an interrupt or a kill cut off, as far as it can still be told."""
        if self._snapshots is None:
            return
        async with self._settling:
            for call in cut_off(self._journal.entries):
                await record(self._journal, self._snapshots, call, always=True)
            if files := await self._snapshots.rest():
                self._journal.append(Changed("", files))

    async def preview(self, to: int) -> Preview:
        """What going back would do, before it is done. Raises UsageFault when `to` is no point."""
        await self.settle()
        point = self._point(to)
        if self._snapshots is None:
            return Preview(point)
        plan, conflicts = await self._snapshots.compare(restorings(self._journal.entries, to))
        return Preview(point, tuple(plan), tuple(conflicts))

    async def go(self, to: int, *, files: bool, conversation: bool, anyway: bool) -> WentBack:
        """Go back. Raises UsageFault, before anything is done, for conflicts without `anyway`."""
        seen = await self.preview(to)
        if files and seen.conflicts and not anyway:
            raise UsageFault(f"Nothing was changed.\n{told(seen.conflicts)}")
        done: tuple[FileChange, ...] = ()
        troubles: tuple[Conflict, ...] = ()
        if files and self._snapshots is not None:
            done, troubles = await self._snapshots.restore(seen.plan)
            self._journal.append(Changed("", done))
        self._journal.append(Rewound(to, files, conversation))
        stayed = net(self._journal.entries[to:]) if conversation and not files else ()
        words = MOVED if done and not conversation else STAYED if stayed else ""
        if words:
            names = _names(done or stayed)
            self._journal.append(Noted(words.format(files=names) + READ_AGAIN, to="model", topic="file"))
        return WentBack(seen.point.text, done, troubles)

    def _point(self, to: int) -> Point:
        for point in points(self._journal.entries):
            if point.to == to:
                return point
        raise UsageFault("There is no message to go back to at that place.")


def cut_off(entries: Sequence[Entry]) -> list[ToolStarted | Prepared]:
    """Calls since the last new message that may have changed files, and of which neither end nor changes are told."""
    told: set[str] = set()
    found: list[ToolStarted | Prepared] = []
    for entry in reversed(entries):
        match entry:
            case UserSaid(queued=""):
                break
            case Changed(use_id=use_id, call=call):
                told.add(call or use_id)
            case ToolFinished(use_id=use_id):
                told.add(use_id)
            case Prepared(use_id=use_id, call=call) if not {use_id, call} & told:
                found.append(entry)
            case ToolStarted() if (entry.kept or entry.scanned) and entry.use_id not in told:
                found.append(entry)
            case _:
                pass
    return found[::-1]


async def record(journal: Journal, snapshots: Snapshots, call: ToolStarted | Prepared, *, always: bool) -> None:
    """Put on record what a call changed; with `always` also that it changed nothing."""
    files = await snapshots.changes(call.kept, scanned=call.scanned)
    if files or always:
        journal.append(Changed(call.use_id, files, call.call if isinstance(call, Prepared) else ""))


def told(conflicts: Sequence[Conflict]) -> str:
    """Conflicts as lines for a person."""
    return "\n".join(f"  {each.path}: {each.why}" for each in conflicts)


def _names(files: Sequence[FileChange]) -> str:
    names = [change.path for change in files if "folder" not in (change.before.kind, change.after.kind)][:NAMED]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
