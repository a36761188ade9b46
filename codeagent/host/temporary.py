"""Private temporary directories that do not outlive their maker for long: after a kill -9 the next start removes them.

A directory's name says which process made it, and its lock whether that process lives: the lock goes with it however it
ends, and holds across containers that share `/tmp` and count processes on their own.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path

from codeagent.host.living import lives

_OURS = re.compile(r"codeagent-(?:walls|replay)-(\d{1,9})-\w+")

PATIENCE = 2.0
"""Seconds after which no further directory is begun; the next start goes on."""


class Temporary:
    """A directory of this process, until `close`. `what` is `walls` or `replay`. Raises OSError."""

    def __init__(self, what: str) -> None:
        from tempfile import mkdtemp  # 3 ms, and only for commands

        self.path = Path(mkdtemp(prefix=f"codeagent-{what}-{os.getpid()}-"))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Remove it with all that is in it. Raises OSError."""
        from codeagent.host.trees import remove_tree

        try:
            remove_tree(self.path)
        finally:
            os.close(self._lock)


def remove_left(place: Path, patience: float = PATIENCE) -> list[Path]:
    """Remove the directories in `place` whose makers, runs of this user, are gone. Returns those that it removed.

    Nothing is followed through a link, nothing of another user is touched, and what cannot be removed stays.
    """
    deadline, removed = time.monotonic() + patience, []
    try:
        with os.scandir(place) as entries:
            found = [entry for entry in entries if (made := _OURS.fullmatch(entry.name)) and not lives(int(made[1]))]
    except OSError:
        return []
    for entry in found:
        if time.monotonic() > deadline:
            break
        if _removed(Path(entry.path)):
            removed.append(Path(entry.path))
    return removed


def _removed(path: Path) -> bool:
    from codeagent.host.trees import remove_tree

    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(path)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
