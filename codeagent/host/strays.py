"""Finds the processes that belong to a shell call, wherever they went, and ends them.

A call's processes are those of its process group, their descendants, and every process whose
environment carries the call's cookie: a child that made its own session keeps the cookie.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.host.living import lives

COOKIE = "CODEAGENT_CALL"
"""Name of the variable. Its value is `SESSION.PID.NUMBER.`, PID being the agent that started the call."""

MERCY = 2.0
"""Seconds between TERM and KILL."""

_PASSES = 5
"""Looks through the list of processes within one look."""

_SAME = 0.5
"""Seconds in which the same processes do not end: on a busy machine the dying need their turn too."""

_WALLS = "bwrap"
"""Ends by itself with what runs inside; ended first, it would take all of that along without a moment's mercy."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A live process: id, parent, group, and the name of its program."""

    pid: int
    parent: int
    group: int
    name: str


def belonging(cookie: str, group: int = 0) -> tuple[Stray, ...]:
    """Live processes of this group (0: none), those whose cookie starts with `cookie`, and all their descendants.

    By number, so that mostly a shell comes before its children and reports none of their deaths.
    """
    marked = f"{COOKIE}={cookie}".encode()
    everyone = list(_processes())
    ours = {p.pid for p, carried in everyone if (group and p.group == group) or (carried or b"").startswith(marked)}
    grown = 0
    while grown != len(ours):
        grown = len(ours)
        ours |= {p.pid for p, _ in everyone if p.parent in ours}
    ours.discard(os.getpid())
    return tuple(sorted((p for p, _ in everyone if p.pid in ours), key=lambda p: p.pid))


def orphaned() -> tuple[Stray, ...]:
    """Processes of calls whose agent is gone: it crashed, and could not end them."""
    return tuple(p for p, carried in _processes() if carried and not _alive(_owner(carried)) and _same_world(p.pid))


async def end(find: Callable[[], Sequence[Stray]], group: int = 0, mercy: float = MERCY) -> tuple[Stray, ...]:
    """TERM to all that `find` gives, KILL to what is left after `mercy` seconds. Returns what was ended.

    Of the process group `group` nothing is left in any case. When cancelled meanwhile, KILL follows at once: nothing
    is left then either.
    """
    told: dict[int, Stray] = {}
    try:
        await _end_gently(find, told, mercy)
    finally:
        kill(find, group)
    return tuple(told.values())


async def _end_gently(find: Callable[[], Sequence[Stray]], told: dict[int, Stray], seconds: float) -> None:
    """TERM, once each, to what there is and to what it still starts, until nothing is left or the time is over."""
    loop = asyncio.get_running_loop()
    deadline, pause = loop.time() + seconds, 0.005
    while (found := find()) and loop.time() < deadline:
        for stray in found:
            if stray.pid not in told:
                told[stray.pid] = stray
                if stray.name == _WALLS:
                    continue
                _send(stray.pid, signal.SIGTERM)
                _send(stray.pid, signal.SIGCONT)  # a stopped process hears nothing else
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.1)  # a look costs some milliseconds


def kill(find: Callable[[], Sequence[Stray]], group: int = 0, seconds: float = 5.0) -> None:
    """KILL, again until none is found, the same ones stay (another user's), or the time is over.

    Groups go first, `group` unseen: the kernel ends one as a whole, so that what forks faster than we look, and is
    in none of the looks, does not get away.
    """
    began = changed = time.monotonic()
    before = frozenset[int]()
    end_group(group)
    while (rest := find()) and (now := time.monotonic()) < min(began + seconds, changed + _SAME):
        found = frozenset(stray.pid for stray in rest)
        changed, before = (changed if found == before else now), found
        for each in {stray.group for stray in rest}:
            end_group(each)
        for pid in found:
            _send(pid, signal.SIGKILL)
        time.sleep(0.001)


def end_group(group: int) -> None:
    """KILL to all of a process group at once, if there is one and it is not our own."""
    if group > 1 and group != os.getpgrp():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


async def sweep(prefix: str) -> tuple[Stray, ...]:
    """End every process whose cookie starts with `prefix` (`SESSION.` for a whole session). Returns them."""
    return await end(lambda: belonging(prefix))


async def sweep_orphans() -> tuple[Stray, ...]:
    """End what crashed agents of this user left behind. Returns those processes."""
    return await end(orphaned)


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return  # gone already, or another user's by sudo: not ours to end


def _owner(carried: bytes) -> int:
    fields = carried.decode(errors="replace").split(".")
    return int(fields[-3]) if len(fields) > 3 and fields[-3].isdecimal() else 0


def _alive(pid: int) -> bool:
    return pid <= 0 or lives(pid)  # without a number it is no cookie of our making


def _same_world(pid: int) -> bool:
    """Whether a process counts ids as we do; in a container the owner's number means another process."""
    ours = Path("/proc/self/ns/pid")
    try:
        return not ours.is_symlink() or Path(f"/proc/{pid}/ns/pid").readlink() == ours.readlink()
    except OSError:
        return False


def _processes() -> Iterator[tuple[Stray, bytes | None]]:
    """Every live process, with the `NAME=value` of its cookie where it has one that we may read."""
    return _from_proc() if sys.platform.startswith("linux") else _from_ps()


def _from_proc() -> Iterator[tuple[Stray, bytes | None]]:
    for name in _numbers():
        stat = _bytes_of(f"/proc/{name}/stat")
        program, _, rest = stat.partition(b"(")[2].rpartition(b")")
        fields = rest.split(maxsplit=3)
        if len(fields) < 3 or fields[0] in b"ZX":
            continue
        stray = Stray(int(name), int(fields[1]), int(fields[2]), program.decode(errors="replace"))
        yield stray, _cookie(_bytes_of(f"/proc/{name}/environ").split(b"\0"))


def _numbers() -> Iterator[str]:
    """Process ids, the newest first, and those that came meanwhile: what forks on is elsewhere a moment later."""
    seen: set[str] = set()
    for _ in range(_PASSES):
        names = os.listdir("/proc")  # noqa: PTH208 - twice as fast, and this runs in a waiting loop
        fresh = [name for name in reversed(names) if name.isdecimal() and name not in seen]
        if not fresh:
            return
        yield from fresh
        seen.update(fresh)


def _from_ps() -> Iterator[tuple[Stray, bytes | None]]:
    command = ["/bin/ps", "-axEww", "-o", "pid=,ppid=,pgid=,stat=,command="]
    listing = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=5)
    for line in listing.stdout.splitlines():
        fields = line.split(maxsplit=4)
        if len(fields) < 5 or fields[3].startswith(b"Z"):
            continue
        words = fields[4].split()
        pid, parent, group = map(int, fields[:3])
        yield Stray(pid, parent, group, Path(os.fsdecode(words[0])).name), _cookie(words)


def _cookie(words: Sequence[bytes]) -> bytes | None:
    start = COOKIE.encode() + b"="
    return next((word for word in words if word.startswith(start)), None)


def _bytes_of(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(fd, 65536), b""))
    except OSError:
        return b""
    finally:
        os.close(fd)
