"""Which sessions there are: where their logs lie, what a list shows of them, and which one a name means."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from codeagent.core.errors import SessionError, UsageFault
from codeagent.core.events import Earlier, Opened, Switched, Titled
from codeagent.core.listed import Listed
from codeagent.sessions import codec
from codeagent.sessions.earlier import LARGE, Beginning, glance
from codeagent.sessions.load import foreign_digest

_TITLE = 72
"""Characters of the first words that serve as a title."""

_LARGEST = 100_000_000
"""Bytes of the largest log of another's that can be trusted: it is read whole before it is believed."""

_LONGEST_FIRST = 4_000_000
"""Bytes of the first line that are looked at; it holds the system prompt and the tools."""

_TOLD = re.compile(
    codec.HEAD + rb'(?=\{"kind":"(opened|titled|user_said|assistant_said|compacted|spent|turn_ended|switched)")'
)
"""The beginning of a line that a list needs; all others are passed over by their first bytes."""


class _Told(msgspec.Struct):
    """What a list wants of any entry; everything else in the line is skipped unread."""

    session: str = ""
    cwd: str = ""
    branch: str = ""
    model: str = ""
    headless: bool = False
    title: str = ""
    cost: float | None = None
    blocks: tuple[_Block, ...] = ()


class _Block(msgspec.Struct):
    text: str = ""


_decoder = msgspec.json.Decoder(_Told)


def writable(project: Path) -> bool:
    """Whether sessions can be kept inside the project; not through a link, which could lead anywhere."""
    place = project
    for name in (".agent", "sessions"):
        if not os.path.lexists(place / name):
            break
        place = place / name
        if place.is_symlink() or not place.is_dir():
            return False
    return os.access(place, os.W_OK | os.X_OK)


def sessions_dir(project: Path, state_home: Path, writable: bool) -> Path:
    """Where the logs of this project lie; `state_home` is the user's state directory, for projects not `writable`."""
    if writable:
        return project / ".agent" / "sessions"
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
    return state_home / "codeagent" / name / "sessions"


def listed(directory: Path) -> list[Listed]:
    """Sessions in which something was said, the latest first."""
    found = [told for path in logs(directory) if (told := describe(path)) is not None and told.title]
    return sorted(found, key=lambda told: told.when, reverse=True)


def latest(
    directory: Path,
    include_headless: bool = False,
    key: bytes = b"",
    believed: Callable[[Path, str], bool] = lambda _path, _digest: False,
) -> Listed | None:
    """The session that was last written to, if any; with the user's key only of those that we wrote.

    `believed(log, digest of its foreign lines)` says which logs of others count too.
    """
    for path in logs(directory):
        told = describe(path)
        if told is None or not told.title or (told.headless and not include_headless):
            continue
        if not key or not (digest := foreign_digest(path, key)) or believed(path, digest):
            return told
    return None


def brought(directory: Path, key: bytes) -> list[tuple[Path, str]]:
    """Logs that begin with a line of another's, with the digest of all such lines; empty for one that is too large.

    Only beginnings are looked at: a log of ours to which others added is told apart when it is to be continued.
    """
    found = []
    for path in logs(directory):
        with suppress(OSError, SessionError):
            with path.open("rb") as file:
                first = file.readline(_LONGEST_FIRST)
            if codec.whole(first) and not codec.sealed(first, codec.key_of(key, path.stem)):
                small = path.stat().st_size <= _LARGEST
                found.append((path, foreign_digest(path, key) if small else ""))
    return found


def find(directory: Path, id_or_name: str) -> Listed:
    """The session with this id, beginning of an id, or name (case does not matter; the latest of several).

    Raises UsageFault when there is none, or when the beginning fits several.
    """
    for path in logs(directory):
        if path.stem == id_or_name and (told := describe(path)) is not None:
            return told
    sessions = listed(directory)
    wanted = id_or_name.casefold().strip()
    for told in sessions:
        if told.title.casefold() == wanted:
            return told
    begun = [told for told in sessions if wanted and told.id.casefold().startswith(wanted)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageFault(f"{len(begun)} sessions begin with {id_or_name!r}: {', '.join(t.id for t in begun[:5])}.")
    raise UsageFault(f"There is no session {id_or_name!r} in {directory}.{_nearest(wanted, sessions)}")


def _nearest(wanted: str, sessions: list[Listed]) -> str:
    from difflib import get_close_matches  # only on the way to an error

    names = {name.casefold(): name for told in sessions for name in (told.title, told.id)}
    near = get_close_matches(wanted, names, n=1)
    return f" Did you mean {names[near[0]]!r}?" if near else " `codeagent sessions` lists them."


def logs(directory: Path) -> list[Path]:
    """Log files in this directory, the one last written first; links are passed by."""
    try:
        with os.scandir(directory) as entries:
            own = [e for e in entries if e.name.endswith(".jsonl") and e.is_file(follow_symlinks=False)]
            stamped = sorted(((e.stat().st_mtime_ns, e.name) for e in own), reverse=True)
    except OSError:
        return []
    return [directory / name for _, name in stamped]


def describe(path: Path) -> Listed | None:
    """What a list shows of one log, or None when it cannot be read. Skims the lines; decodes only a few fields."""
    try:
        with path.open("rb", buffering=1 << 20) as file:
            return _skim(path, file)
    except OSError:
        return None


def _skim(path: Path, file: IO[bytes]) -> Listed | None:
    first: _Told | None = None
    title, words, branch, model = "", "", "", ""
    cost: float | None = 0.0
    turns = at = 0
    before = glance(path) if os.fstat(file.fileno()).st_size >= LARGE else None
    if before is not None:
        first, title, model, cost, turns = _beginning(before)
        branch = first.branch
        file.seek(before.size)
    for kind, when, told in _told_lines(file):
        first = first or told
        at = when
        model = told.model or model
        branch = told.branch or branch
        if kind == b"titled":
            title = told.title
        elif kind == b"user_said":
            words = words or " ".join(" ".join(block.text for block in told.blocks).split())
        elif kind == b"turn_ended":
            turns += 1
        elif kind in {b"assistant_said", b"compacted", b"spent"}:
            cost = None if cost is None or told.cost is None else cost + told.cost
    if first is None:
        return None
    found = os.fstat(file.fileno())
    return Listed(
        id=path.stem,
        title=title or _short(words),
        when=at / 1000 if at > 0 else found.st_mtime,
        branch=branch,
        model=model,
        cost=cost,
        turns=turns,
        size=found.st_size,
        headless=first.headless,
        cwd=first.cwd,
        path=str(path),
    )


def _beginning(before: Beginning) -> tuple[_Told, str, str, float | None, int]:
    """What the index of a long log knows: its opening, title, model, cost and number of turns so far."""
    kept = before.kept.values()
    opened = next((e for e in kept if isinstance(e, Opened)), None)
    told = _Told(opened.session, opened.cwd, opened.branch, opened.model, opened.headless) if opened else _Told()
    title = next((e.title for e in kept if isinstance(e, Titled)), "")
    model = next((e.model for e in reversed(kept) if isinstance(e, Switched) and e.model), told.model)
    rest = next((e for e in kept if isinstance(e, Earlier)), Earlier())
    return told, title, model, rest.cost, rest.turns


def _told_lines(file: IO[bytes]) -> Iterator[tuple[bytes, int, _Told]]:
    """Kind, time (ms) and slim content of the lines that a list needs; a damaged one is for the load to tell."""
    for line in file:
        found = _TOLD.match(line)
        if found is not None:
            with suppress(ValueError, RecursionError):
                yield found[6], int(found[3]), _decoder.decode(codec.body(line))


def _short(words: str) -> str:
    return words if len(words) <= _TITLE else words[: _TITLE - 1].rstrip() + "…"
