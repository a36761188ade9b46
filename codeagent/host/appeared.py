"""Protected names that came into being while a command ran within walls: found, and renamed so that they start nothing.

A wall can only stand on what is there (measured with bubblewrap 0.8: a mount over a missing name leaves a file of that
name in the project for all to see). So the names are looked at before and after, which takes 0.2 ms each.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from codeagent.host import paths

ENDING = ".kept-out"
"""What is added to a name that has to go: no program looks for that."""

OURS = frozenset({".agent"})
"""Made by codeagent itself at any time; what comes into it is not accepted by anyone (trust) and does not act."""

_Mark = tuple[int, int] | None
"""Inode and change time of a link, which a command can replace; None of anything else, on which a wall stands."""


class Appeared:
    """What stands in these directories now, to be compared with what stands there when a command is over.

    `spared` are names that commands may make; it may grow meanwhile.
    """

    def __init__(self, roots: Sequence[Path], spared: Set[str] = frozenset()) -> None:
        self._spared = spared
        self._before = {root: self._look(root) for root in roots}

    def found(self) -> tuple[str, ...]:
        """The paths of whatever came since."""
        now = {root: self._look(root) for root in self._before}
        return tuple(
            str(path)
            for root, before in self._before.items()
            for path, mark in now[root].items()
            if path not in before or before[path] != mark
        )

    def renamed(self) -> tuple[str, ...]:
        """The same, and rename them. One that cannot be renamed is told like the others."""
        found = self.found()
        for path in found:
            _put_away(Path(path))
        return found

    def _look(self, root: Path) -> Mapping[Path, _Mark]:
        names = paths.starting_names(root)
        return {path: _mark(path) for path in names if path.relative_to(root).parts[0] not in OURS | self._spared}


def _mark(path: Path) -> _Mark:
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_ino, found.st_ctime_ns) if path.is_symlink() else None


def _put_away(path: Path) -> None:
    """Give it a name that means nothing; it stays where it is, for whoever wants it."""
    for number in range(1, 100):
        free = path.with_name(f"{path.name}{ENDING}{'' if number == 1 else f'-{number}'}")
        if not os.path.lexists(free):
            try:
                path.rename(free)
            except OSError:
                continue
            return
