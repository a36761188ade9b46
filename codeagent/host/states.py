"""What stands at paths: a look at many by their stat alone, and at one with its content kept."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from codeagent.core.file_states import FileState
from codeagent.host.durable import read_regular
from codeagent.host.objects import Objects

LARGE = 5 << 20
"""Bytes above which a file is not kept ahead of a command."""

TOO_LARGE = "too large"

RACY = 50_000_000
"""Nanoseconds: a file changed this shortly before it was looked at may change again without its stamp showing it."""

NOTHING = FileState()

Stamp = tuple[int, int, int, int, int]
"""Mode, size, inode, time of change of content and of status (ns): equal stamps, equal content, unless racy."""


class Sight(Struct, frozen=True):
    """A path as it was seen. `stamp` is None when an equal one would prove nothing."""

    state: FileState
    stamp: Stamp | None


Tree = dict[str, Sight]
"""What stands where, by absolute path."""


def look(paths: Iterable[str], before: Mapping[str, Sight], objects: Objects) -> tuple[Tree, dict[str, str]]:
    """See all these paths, and keep the content of those that changed since `before` or are not kept yet.

    Folders come before what is in them; what only a link leads to is not there. Also, by path, why
    nothing is kept of some files (`kept_state`).
    """
    now = time.time_ns()
    objects.hold(sight.state.digest for sight in before.values())
    kept = objects.digests()
    tree: Tree = {}
    unkept: dict[str, str] = {}
    elsewhere: set[str] = set()
    for path in paths:
        if elsewhere and path.rpartition("/")[0] in elsewhere:
            elsewhere.add(path)
            continue
        try:
            found = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISLNK(found.st_mode):
            elsewhere.add(path)
        stamp = (found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
        known = before.get(path)
        if (
            known is not None
            and known.stamp == stamp
            and (known.state.digest in kept or _not_to_keep(known.state, objects))
        ):
            tree[path] = known
            continue
        state, why = kept_state(path, objects, found, LARGE)
        if why:
            unkept[path] = why
        tree[path] = Sight(state, stamp if found.st_ctime_ns < now - RACY else None)
    return tree, unkept


def state_of(path: str, objects: Objects, most: int = LARGE) -> FileState:
    """What stands at a path now; a file of at most `most` bytes and a link's target are kept."""
    return kept_state(path, objects, None, most)[0]


def kept_state(path: str, objects: Objects, found: os.stat_result | None, most: int) -> tuple[FileState, str]:
    """The same, and why its content is not kept, in words: `too large`, or what the system said of file or disk."""
    if found is None:
        try:
            found = os.lstat(path)
        except OSError:
            return NOTHING, ""
    mode = stat.S_IMODE(found.st_mode)
    unread = f"~{found.st_size}-{found.st_mtime_ns}"
    if stat.S_ISDIR(found.st_mode):
        return FileState("folder", "", mode), ""
    why = TOO_LARGE if stat.S_ISREG(found.st_mode) else "no ordinary file"
    try:
        if stat.S_ISLNK(found.st_mode):
            return FileState("link", objects.put(os.fsencode(Path(path).readlink()))), ""
        if stat.S_ISREG(found.st_mode) and found.st_size <= most:
            data, _ = read_regular(path, most, follow=False)
            return FileState("file", objects.put(data), mode), ""
    except OSError as fault:
        why = fault.strerror or str(fault)
    return FileState("file", unread, mode), why


def link_above(path: str, known: dict[str, str] | None = None) -> str:
    """The first folder on the way to a path that is a link; empty when there is none. What it leads to is elsewhere.

    `known` keeps the answers by folder, for looks at many paths while nothing changes.
    """
    folder = path.rpartition("/")[0]
    if not folder:
        return ""
    if known is not None and folder in known:
        return known[folder]
    found = link_above(folder, known) or (folder if _is_link(folder) else "")
    if known is not None:
        known[folder] = found
    return found


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def _not_to_keep(state: FileState, objects: Objects) -> bool:
    """A full store takes nothing more, so that reading again would not help."""
    return not state.digest or state.digest.startswith("~") or objects.full
