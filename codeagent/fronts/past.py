"""The file of what was typed in a project: one JSON text a line, the newest last, for its owner alone.

It lies in the project and may have come with it: no link is followed and no pipe waited for.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import msgspec

from codeagent.host.durable import make_private

MOST = 1000
"""Messages that are remembered when a file is read."""

_TAIL = 4 << 20
"""Bytes of the file's end that are looked at."""

_CAREFUL = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def read(path: Path) -> list[str]:
    """The latest messages, the oldest first; empty when there is no such file. Lines that are no text are left out."""
    try:
        fd = _opened(path, os.O_RDONLY)
    except OSError:
        return []
    with os.fdopen(fd, "rb") as file:
        file.seek(max(0, os.fstat(fd).st_size - _TAIL))
        lines = file.read().splitlines()[-MOST:]
    texts = []
    for line in lines:
        try:
            texts.append(msgspec.json.decode(line, type=str))
        except msgspec.DecodeError:
            continue
    return texts


def add(path: Path, text: str) -> None:
    """Append a message; the folder is made if it is missing. Raises OSError."""
    make_private(path.parent)
    fd = _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with os.fdopen(fd, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(msgspec.json.encode(text.encode("utf-8", "replace").decode()) + b"\n")


def _opened(path: Path, how: int) -> int:
    fd = os.open(path, how | _CAREFUL, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is no ordinary file")
    return fd
