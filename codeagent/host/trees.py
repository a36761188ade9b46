"""Whole directory trees: a bounded copy to try things in, their size, their removal."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Collection
from pathlib import Path

from codeagent.core.errors import UsageFault

MOST_FILES = 50_000
MOST_BYTES = 1 << 30
"""Beyond these the copy is given up."""


def copy_project(source: Path, target: Path, leave_out: Collection[Path] = ()) -> None:
    """Copy files, directories and links (as links) to `target`, which must not exist; the rest is passed by.

    `leave_out` are directories inside `source`. Raises UsageFault for a project beyond the bounds or one that cannot
    be read.
    """
    files = size = 0

    def passed_by(directory: str, names: list[str]) -> list[str]:
        here = Path(directory)
        return [name for name in names if here / name in leave_out or not _ordinary(here / name)]

    def counted(origin: str, copy: str) -> str:
        nonlocal files, size
        files += 1
        size += Path(origin).stat().st_size
        if files > MOST_FILES or size > MOST_BYTES:
            raise UsageFault(
                f"{source} is too large for a copy: more than {MOST_FILES:,} files or {MOST_BYTES >> 20:,} MiB. "
                "Name a smaller one with --project."
            )
        return shutil.copy2(origin, copy)

    try:
        shutil.copytree(source, target, symlinks=True, ignore=passed_by, copy_function=counted)
    except (shutil.Error, OSError) as fault:
        raise UsageFault(f"{source} cannot be copied: {fault}.") from None


def remove_tree(path: Path) -> None:
    """Remove a file, a link (not what it leads to) or a directory with all that is in it. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Bytes in a file, or in all files of a directory. Links are not followed; what cannot be read counts nothing."""
    try:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            return found.st_size
        return sum(size_of(child) for child in path.iterdir())
    except OSError:
        return 0


def _ordinary(path: Path) -> bool:
    kind = path.lstat().st_mode
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)


def free_space(path: Path) -> int:
    """Bytes that this user may still write where `path` lies; 0 when that cannot be told."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0
