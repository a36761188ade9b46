"""Loaded by the interpreter of a program under test: counts its calls that change a disk, and dies at a chosen one.

`KILL_AT=n` dies by SIGKILL just before call n, counted from 1; with `KILL_TORN` a write is half done first.
`KILL_COUNT=FILE` gets the number of calls, as it grows. Neither reaches the program's children.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

NAMES = ("write", "fsync", "fdatasync", "replace", "rename", "link", "mkdir", "unlink", "ftruncate", "rmdir")


def shim(at: int, torn: bool, count_file: str) -> None:
    """Put a counter before each of these functions."""
    count = 0
    write = os.write
    tally = os.open(count_file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600) if count_file else -1

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if tally >= 0:
                os.pwrite(tally, b"%d" % count, 0)
            if count == at:
                if torn and name == "write":
                    write(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in NAMES:
        if hasattr(os, name):
            setattr(os, name, counted(name, getattr(os, name)))


_at, _torn, _file = (os.environ.pop(name, "") for name in ("KILL_AT", "KILL_TORN", "KILL_COUNT"))
if _at or _file:
    shim(int(_at or 0), bool(_torn), _file)
