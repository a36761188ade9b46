"""Whether a process lives."""

from __future__ import annotations

import os


def lives(pid: int) -> bool:
    """True for every process with this number, another user's too; a zombie counts as living."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
