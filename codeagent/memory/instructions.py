"""The project's and the user's guidelines: which files are in force, what they say, and what changed in them."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, structs

from codeagent.host.durable import read_regular
from codeagent.memory.markdown import read_through

FILE_BYTES = 128 * 1024
"""The most that is read of one file; a guideline that long is no guideline."""

ALL_BYTES = 256 * 1024
"""The most that all files together may bring into the prompt."""

HOPS = 4
"""How far imports are followed."""

_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", ".agent/AGENTS.md")
_RULES = ".claude/rules"
_LOCAL = "CLAUDE.local.md"

_FOREIGN = {"node_modules", "site-packages", "vendor", "third_party", ".venv", "venv", ".tox", ".git"}
"""Directories of other people's code."""

Stamp = tuple[int, int, int, int, int] | None
"""Modification and change time (ns), size, device and inode of a file; None where there is none."""


class Guideline(Struct, frozen=True):
    """One file in force. `digest` is the sha256 of `text`, which has no comments any more."""

    path: str
    text: str
    digest: str


class Sought(Struct, frozen=True):
    """What guidelines were asked for. `below` are directories below `cwd` in which files were read."""

    cwd: Path
    home: Path
    config_home: Path
    root: Path
    below: tuple[Path, ...] = ()


class Guidelines(Struct, frozen=True):
    """All files in force, the nearest to the working directory last; `problems` are words for a person.

    `stamps` says of every file and directory that was looked for how it was; `request` is what `load` was asked for.
    """

    files: tuple[Guideline, ...]
    problems: tuple[str, ...]
    stamps: tuple[tuple[str, Stamp], ...]
    request: Sought


def load(cwd: Path, home: Path, config_home: Path | None = None, root: Path | None = None) -> Guidelines:
    """Read all guidelines for work in `cwd`: the user's own, then from the root of the file system down to `cwd`.

    `root` is the project's root (`cwd` if None): imports of its files stay inside it. Paths are absolute.
    """
    return _load(Sought(cwd, home, config_home or home / ".config", root or cwd))


def _load(sought: Sought) -> Guidelines:
    reading = _Reading(sought)
    reading.all()
    return Guidelines(tuple(reading.files), tuple(reading.problems), tuple(reading.stamps.items()), sought)


def recheck(known: Guidelines) -> Guidelines:
    """The guidelines as they are now: the same object when no file was touched. Costs one `stat` a place."""
    if all(_stamp(path) == stamp for path, stamp in known.stamps):
        return known
    return _load(known.request)


def nested(known: Guidelines, path: Path) -> Guidelines:
    """The guidelines once a file at `path` was read: those of its directories below `cwd` are in force too.

    The same object when that adds nothing. What came with a dependency guides nobody.
    """
    sought = known.request
    if not path.is_relative_to(sought.cwd) or not _FOREIGN.isdisjoint(path.relative_to(sought.cwd).parts):
        return known
    between = [each for each in path.parents if each != sought.cwd and each.is_relative_to(sought.cwd)]
    fresh = tuple(each for each in reversed(between) if each not in sought.below)
    if not fresh:
        return known
    return _load(structs.replace(sought, below=tuple(sorted({*sought.below, *fresh}))))


def changes(old: Guidelines, new: Guidelines) -> tuple[str, ...]:
    """What to tell the model, one text a file that appeared, changed or went; empty when nothing did."""
    if old is new:
        return ()
    before = {each.path: each for each in old.files}
    after = {each.path: each for each in new.files}
    said = [f"The guideline file {path} is gone; it is no longer in force." for path in before if path not in after]
    for path, each in after.items():
        was = before.get(path)
        if was is None:
            said.append(f"The guideline file {path} is new and in force from now on:\n\n{each.text}")
        elif was.digest != each.digest:
            said.append(f"The guideline file {path} changed. {_difference(was.text, each.text)}")
    return tuple(said)


def _difference(old: str, new: str) -> str:
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))[2:]
    diff = "\n".join(lines)
    if len(diff) < len(new) / 2:
        return f"In force from now on, as a diff:\n\n{diff}"
    return f"In force from now on:\n\n{new}"


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116  # 1 µs each instead of 4, for every place before every step
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_dev, found.st_ino


class _Reading:
    """One pass over all places: files in order, each once, whatever it is called by."""

    def __init__(self, sought: Sought) -> None:
        self.sought = sought
        self.home = sought.home
        self.files: list[Guideline] = []
        self.problems: list[str] = []
        self.stamps: dict[str, Stamp] = {}
        self._known: set[object] = set()
        self._size = 0

    def all(self) -> None:
        for own in (self.home / ".claude" / "CLAUDE.md", self.sought.config_home / "codeagent" / "AGENTS.md"):
            self._take(own, self.home, 0)
        for rule in self._rules(self.home):
            self._take(rule, self.home, 0)
        cwd, root = self.sought.cwd, self.sought.root
        for directory in (*reversed(cwd.parents), cwd, *self.sought.below):
            bound = root if directory.is_relative_to(root) else directory
            for name in _NAMES:
                self._take(directory / name, bound, 0)
            for rule in self._rules(directory):
                self._take(rule, bound, 0)
            self._take(directory / _LOCAL, bound, 0)

    def _rules(self, directory: Path) -> Iterator[Path]:
        """Rule files below this directory, in order of their names."""
        todo = [directory / _RULES]
        while todo:
            here = todo.pop(0)
            self.stamps[str(here)] = stamp = _stamp(str(here))
            if stamp is None or len(self.stamps) > 1000:
                continue
            try:
                inside = sorted(os.scandir(here), key=lambda each: each.name)
            except OSError:
                continue
            yield from (Path(each.path) for each in inside if each.name.endswith(".md"))
            todo += [Path(each.path) for each in inside if each.is_dir(follow_symlinks=False)]

    def _take(self, path: Path, bound: Path, hops: int, importer: str = "") -> None:
        """Take a file and what it imports, when it is there, ours to read, and not taken before."""
        if str(path) not in self.stamps:
            self.stamps[str(path)] = _stamp(str(path))
        if self.stamps[str(path)] is None:
            return
        try:
            data, identity = self._read(path, bound, bool(importer))
        except OSError as fault:
            self.problems.append(f"The guideline file {path} is passed by: {fault.strerror or fault}.")
            return
        if identity in self._known:
            return
        self._known.add(identity)
        text, imports = read_through(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        if text and digest not in self._known:
            self._known.add(digest)
            self._size += len(text)
            self.files.append(Guideline(str(path), text, digest))
        for name in imports:
            self._import(name, path, bound, hops)

    def _import(self, name: str, importer: Path, bound: Path, hops: int) -> None:
        target = self.home / name[2:] if name.startswith("~/") else importer.parent / name
        target = Path(os.path.normpath(target))
        self.stamps[str(target)] = stamp = _stamp(str(target))
        if stamp is None:
            if "/" in name or name.endswith(".md"):  # else it is somebody's name
                self.problems.append(f"{importer} imports {name}, which does not exist.")
        elif stamp[-2:] in self._known:
            return
        elif hops >= HOPS:
            self.problems.append(f"{importer} imports {name}, which is more than {HOPS} imports away: passed by.")
        elif target.is_file():
            self._take(target, bound, hops + 1, str(importer))

    def _read(self, path: Path, bound: Path, imported: bool) -> tuple[bytes, object]:
        """Bytes and identity of a file. Raises OSError with words when it must not or cannot be read."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(bound)) and (imported or real.suffix != ".md"):
            raise OSError(f"it lies outside {bound}")
        data, found = read_regular(path, FILE_BYTES)
        if _planted(path, found):
            raise OSError("another user put it into a directory that everybody may write to")
        if b"\0" in data:
            raise OSError("it is no text")
        if self._size + len(data) > ALL_BYTES:
            raise OSError(f"all guidelines together are longer than {ALL_BYTES // 1024} KiB")
        return data, (found.st_dev, found.st_ino)


def _planted(path: Path, found: os.stat_result) -> bool:
    """Whether somebody else's file lies in a directory such as /tmp."""
    return bool(path.parent.stat().st_mode & stat.S_IWOTH) and found.st_uid not in {os.getuid(), 0}
