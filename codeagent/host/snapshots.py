"""Keeps what files held before an effect and tells what it changed, commands included; never in the user's git."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from codeagent.core.effects import Effect, Risk
from codeagent.core.events import Changed
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.ports import Conflict, Kept, Restoring
from codeagent.core.rewind import net
from codeagent.host import restoring
from codeagent.host.durable import make_private, read_regular, write_all
from codeagent.host.files import WHOLE
from codeagent.host.listing import Lister
from codeagent.host.objects import LIMIT, Objects
from codeagent.host.states import NOTHING, RACY, TOO_LARGE, Sight, Tree, kept_state, look, state_of

MOST = 50_000
"""Files of a project that is looked at before and after commands."""

PATIENCE = 5.0
"""Seconds that listing the project may take."""

TREES = 20
"""Trees of earlier sessions that are left."""

TREE_BYTES = 64 << 20
"""Bytes of a saved tree at most; one of `MOST` files takes about 10 MB."""

_KEPT_OUT = re.compile(r"/(\.git|\.agent|\.\.)(/|$)")
"""What a rewind must not touch: what lies there is not the project's text, and may be obeyed. Nor the way out."""

CROWDED = (
    f"This project has more than {MOST:,} files, or listing them takes too long: /rewind puts back what the edit tools "
    "change, not what commands change."
)
FULL = "The snapshots are full ({size} MB): /rewind cannot put back everything that changes from here on."
DROPPED = "The snapshots reached {size} MB and the oldest were dropped: /rewind may not reach as far back as before."
UNKEPT = {TOO_LARGE: "Too large to keep for /rewind"}
OTHERWISE = "Cannot be kept for /rewind ({why})"
"""How it is told which files are not kept, by the reason."""


class ProjectSnapshots:
    """Implements core.ports.Snapshots for the files below `roots`; the first of them is the project's root.

    Content lies in `folder`, with the tree that session `name` saw last. What lies outside is never kept nor put
    back, whatever a log says; files that ignore rules leave out only where an edit names them.
    """

    def __init__(
        self, folder: Path, name: str, roots: Sequence[Path], lister: Lister, *, limit: int = LIMIT, most: int = MOST
    ) -> None:
        self._folder, self._roots, self._lister, self._most = folder, tuple(roots), lister, most
        self._inside_of = tuple(f"{root}/" for root in roots)
        self._tree_file = folder / "trees" / name
        self._objects = Objects(folder, limit)
        self._limit = limit
        self._tree: Tree | None = None
        self._saved: Tree | None = None
        self._looked = 0
        """When the project was last looked at before a command, in ns since the epoch."""
        self._running = 0
        """Commands between `keep` and `changes`: sub-agents may run some side by side."""
        self._unclaimed: tuple[FileChange, ...] = ()
        """What running commands did before another began; whichever ends first tells it."""
        self._lock = Lock()
        """Held by the thread that looks."""
        self._told: set[str] = set()

    # --- core.ports.Snapshots ---

    async def keep(self, effect: Effect) -> Kept:
        """Keep what the effect may change."""
        if effect.risk == Risk.LOW:
            return Kept()
        if effect.shell is not None:
            return await self._keep_project()
        paths = [touch.path for touch in effect.touches if touch.access == "write" and self._covers(touch.path)]
        return await asyncio.to_thread(self._keep_paths, paths) if paths else Kept()

    async def changes(self, kept: Sequence[tuple[str, FileState]], *, scanned: bool) -> tuple[FileChange, ...]:
        """What is different from what `keep` saw."""
        found = await asyncio.to_thread(self._changed_paths, kept)
        if not scanned:
            return found
        self._running = max(0, self._running - 1)
        return found + await asyncio.to_thread(self._changed_project, await self._paths() or ())

    async def rest(self) -> tuple[FileChange, ...]:
        """What commands changed whose end nobody told."""
        if not self._running:
            return ()
        self._running = 0
        return await asyncio.to_thread(self._changed_project, await self._paths() or ())

    async def compare(self, plan: Sequence[Restoring]) -> tuple[Sequence[Restoring], Sequence[Conflict]]:
        """What differs from what is wanted, and what stands against putting it back."""
        ours = [each for each in plan if self._covers(each.path)]
        return await asyncio.to_thread(restoring.compare, ours, self._objects)

    async def restore(self, plan: Sequence[Restoring]) -> tuple[tuple[FileChange, ...], tuple[Conflict, ...]]:
        """Put files back."""
        ours = [each for each in plan if self._covers(each.path)]
        return await asyncio.to_thread(restoring.restore, ours, self._objects)

    # --- before ---

    def _keep_paths(self, paths: Sequence[str]) -> Kept:
        """The files that an edit names, and the folders that it will make for them."""
        missing = {str(up) for path in paths for up in Path(path).parents if not os.path.lexists(up)}
        kept = [(path, NOTHING) for path in sorted(missing)]
        unkept: dict[str, str] = {}
        for path in paths:
            state, why = kept_state(path, self._objects, None, WHOLE)
            kept.append((path, state))
            if why:
                unkept[path] = why
        return Kept(tuple(kept), words=self._words(unkept))

    async def _keep_project(self) -> Kept:
        paths = None if "crowded" in self._told else await self._paths()
        if paths is None:
            return Kept(words=self._once("crowded", CROWDED))
        kept = await asyncio.to_thread(self._look_before, paths)
        self._running += 1
        return kept

    def _look_before(self, paths: Sequence[str]) -> Kept:
        with self._lock:
            unkept: dict[str, str] = {}
            if self._running and self._tree is not None:
                self._unclaimed = _joined(self._unclaimed, self._look_again(self._tree, paths))
            else:
                if self._tree is None:
                    self._tree = _read(self._tree_file) or self._of_another()
                self._looked = time.time_ns()
                self._tree, unkept = look(paths, self._tree, self._objects)
            self._save_or_forget()
            return Kept(scanned=True, words=self._words(unkept))

    def _save_or_forget(self) -> None:
        try:
            self._save()
        except OSError:  # only a kill during this very command would need it, and an older one would lie
            with suppress(OSError):
                self._tree_file.unlink(missing_ok=True)

    # --- after ---

    def _changed_paths(self, kept: Sequence[tuple[str, FileState]]) -> tuple[FileChange, ...]:
        now = [(path, before, state_of(path, self._objects, most=WHOLE)) for path, before in kept]
        with self._lock:
            if self._tree is not None:  # what is told here is not told again by a command that runs beside it
                self._tree = {**self._tree, **{path: Sight(after, None) for path, _, after in now}}
        return tuple(FileChange(path, before, after) for path, before, after in now if before != after)

    def _changed_project(self, paths: Sequence[str]) -> tuple[FileChange, ...]:
        with self._lock:
            before = _read(self._tree_file) if self._tree is None else self._tree
            if before is None:
                return ()
            earlier, self._unclaimed = self._unclaimed, ()
            return _joined(earlier, self._look_again(before, paths))

    def _look_again(self, before: Tree, paths: Sequence[str]) -> tuple[FileChange, ...]:
        """What is different now. A path that is no longer listed may only have become ignored: it is looked at too.

        What came with a folder that was renamed has its old stamp still, that of a path that it left.
        """
        looked = self._looked or _time_of(self._tree_file)
        tree, _ = look(dict.fromkeys((*before, *paths)), before, self._objects)
        self._tree = tree
        changed = []
        left = set()
        for path, sight in before.items():
            now = tree.get(path)
            after = now.state if now else NOTHING
            if after != sight.state:
                changed.append(FileChange(path, sight.state, after))
            if now is None or now.stamp != sight.stamp:
                left.add(sight.stamp)
        left.discard(None)
        for path, sight in tree.items():
            if path not in before and (sight.stamp in left or _newer(path, looked)):
                changed.append(FileChange(path, NOTHING, sight.state))
        return tuple(sorted(changed, key=lambda change: change.path))

    # --- what there is ---

    async def _paths(self) -> list[str] | None:
        """Absolute paths of the files that are looked at, and of the folders that hold them; None when too many."""
        found: dict[str, None] = {}
        try:
            async with asyncio.timeout(PATIENCE):
                for root in self._roots:
                    listed = (await self._lister.files(root)).paths
                    if len(listed) > self._most:
                        return None
                    found |= await asyncio.to_thread(_absolute, str(root), listed)
        except (TimeoutError, OSError):
            return None
        return [path for path in found if self._covers(path)]

    def _covers(self, path: str) -> bool:
        """Whether this is ours to keep and to put back."""
        for root in self._inside_of:
            if path.startswith(root):
                return not _KEPT_OUT.search(path, len(root) - 1)
        return False

    # --- words, once each ---

    def _words(self, unkept: Mapping[str, str]) -> str:
        megabytes = self._limit >> 20
        words = []
        if self._objects.full:
            words.append(self._once("full", FULL.format(size=megabytes)))
        if self._objects.dropped:
            words.append(self._once("dropped", DROPPED.format(size=megabytes)))
        fresh = {path: why for path, why in unkept.items() if self._once(path, path)}
        for why in sorted(set(fresh.values())):
            paths = [path for path in fresh if fresh[path] == why]
            names = ", ".join(str(Path(path).relative_to(self._roots[0])) for path in paths[:3] if self._inside(path))
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            words.append(f"{UNKEPT.get(why, OTHERWISE).format(why=why)}: {names}{more}.")
        return " ".join(filter(None, words))

    def _once(self, about: str, words: str) -> str:
        first = about not in self._told
        self._told.add(about)
        return words if first else ""

    def _inside(self, path: str) -> bool:
        return Path(path).is_relative_to(self._roots[0])

    # --- the tree on disk, for a later process ---

    def _save(self) -> None:
        if self._tree is None or self._tree == self._saved:
            return
        rows = [(os.fsencode(path), sight) for path, sight in self._tree.items()]
        make_private(self._tree_file.parent)
        if self._folder.is_symlink() or self._tree_file.parent.is_symlink():
            raise OSError(f"{self._folder} is a link or holds one")
        made = self._tree_file.with_name(f".{self._tree_file.name}.tmp")
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            write_all(fd, msgspec.msgpack.encode(rows))
        finally:
            os.close(fd)
        made.replace(self._tree_file)
        self._saved = self._tree

    def _of_another(self) -> Tree:
        """The tree that the latest other session saw: it saves reading everything again."""
        others = sorted(self._tree_file.parent.glob("[!.]*"), key=lambda path: -_time_of(path))
        for old in others[TREES:]:
            with suppress(OSError):
                old.unlink()
        return (_read(others[0]) if others else None) or {}


def _read(file: Path) -> Tree | None:
    """A tree that was saved; None where there is none, or it is damaged."""
    with suppress(OSError, msgspec.MsgspecError):
        data, _ = read_regular(file, TREE_BYTES, follow=False)
        rows = msgspec.msgpack.decode(data, type=list[tuple[bytes, Sight]])
        return {os.fsdecode(path): sight for path, sight in rows}
    return None


def _joined(earlier: tuple[FileChange, ...], later: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
    """Both as one step."""
    return net([Changed("", earlier), Changed("", later)]) if earlier else later


def _absolute(root: str, listed: Sequence[str]) -> dict[str, None]:
    """Files and the folders above them up to the root, which itself is left out."""
    folders: dict[str, None] = {}
    for path in listed:
        parent = path.rpartition("/")[0]
        while parent and parent not in folders:
            folders[parent] = None
            parent = parent.rpartition("/")[0]
    return dict.fromkeys(f"{root}/{path}" for path in (*sorted(folders), *listed))


def _newer(path: str, looked: int) -> bool:
    """Whether this came into being after that look: what only stopped being ignored did not."""
    try:
        return os.lstat(path).st_ctime_ns >= looked - RACY
    except OSError:
        return False


def _time_of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
