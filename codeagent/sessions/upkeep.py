"""Naming, measuring and removing sessions that nobody has open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from codeagent.core.errors import SessionError
from codeagent.core.events import Titled
from codeagent.host.trees import remove_tree, size_of
from codeagent.sessions import index
from codeagent.sessions.store import Log, held

LONGEST = 200
"""Characters of a name."""


class Kept(Struct, frozen=True):
    """A session on disk: its log, what a list shows of it, when it was last written to, and its bytes in all."""

    path: Path
    title: str
    when: float
    size: int


def rename(path: Path, title: str, now: Callable[[], float], key: bytes = b"") -> None:
    """Give a session a name by adding to its log. Raises SessionError, also when it is open elsewhere."""
    log, _ = Log.open(path, now, key)
    try:
        log.append(Titled(" ".join(title.split())[:LONGEST], by="user"))
    finally:
        log.close()
    if log.behind:
        raise SessionError(f"The name could not be written to {path}: is the disk full?")


def kept(directory: Path) -> list[Kept]:
    """All sessions of a directory, those too in which nothing was said; the oldest first."""
    found = []
    for path in index.logs(directory):
        told = index.describe(path)
        when = told.when if told else path.stat().st_mtime
        found.append(Kept(path, told.title if told else "", when, sum(map(size_of, belongings(path)))))
    return sorted(found, key=lambda each: each.when)


def overdue(sessions: Sequence[Kept], oldest: float, most: int) -> list[Kept]:
    """Sessions last used before `oldest` (seconds since the epoch), and then the oldest until the rest fits in `most`.

    `sessions` has the oldest first; `oldest` 0 and `most` below 0 mean no bound.
    """
    total = sum(each.size for each in sessions)
    chosen = []
    for each in sessions:
        if each.when < oldest or 0 <= most < total:
            chosen.append(each)
            total -= each.size
    return chosen


def belongings(path: Path) -> Iterator[Path]:
    """The log, its index, torn lines that were put aside, and the directory of full outputs beside it."""
    yield path
    yield from sorted(path.parent.glob(f"{path.name}.*"))
    beside = path.with_suffix("")
    if beside.exists():
        yield beside


def delete(path: Path) -> int:
    """Remove a session with all that belongs to it; the bytes that this frees.

    Raises SessionError when it is open in a codeagent, or cannot be removed.
    """
    if held(path):
        raise SessionError(f"Session {path.stem} is open in another codeagent and was left as it is.")
    freed = 0
    for each in reversed(list(belongings(path))):  # the log last: what is left after a failure is still listed
        size = size_of(each)
        try:
            remove_tree(each)
        except OSError as fault:
            raise SessionError(f"{each} cannot be removed: {fault.strerror or fault}.") from None
        freed += size
    return freed
