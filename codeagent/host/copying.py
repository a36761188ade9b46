"""A bounded copy of a project, to try things in."""

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


def remove_copy(target: Path) -> None:
    """Remove what `copy_project` made; what cannot be removed stays."""
    shutil.rmtree(target, ignore_errors=True)


def _ordinary(path: Path) -> bool:
    kind = path.lstat().st_mode
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)
