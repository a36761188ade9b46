"""Small private files of our own: replaced whole or not at all, and changed by one process at a time."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_fdatasync = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""


def sync(fd: int) -> None:
    """Wait until the bytes of this open file are on the disk. Raises OSError."""
    _fdatasync(fd)


def sync_directory(path: Path) -> None:
    """Wait until a new or renamed name in this directory is on the disk; some file systems refuse, which is fine."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def make_private(directory: Path) -> None:
    """Make this directory and its missing parents, for the user alone (0700). Raises OSError."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte; a short write (full disk, size limit) is followed up so that the real error is raised."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def read_regular(path: Path | str, most: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Bytes and identity of an ordinary file of at most `most` bytes; a FIFO or a device is not waited for.

    Raises OSError, with words when the file is no ordinary one or too long. Without `follow` a link is an error.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is no ordinary file")
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(fd)
    if len(data) > most:
        raise OSError(f"it is longer than {most // 1024} KiB")
    return data, found


def replace(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Put `data` in place of the file's content atomically; readers see the old bytes or the new ones.

    An existing file keeps its mode. A link is followed, so that the file it names is replaced and the link stays.
    Raises OSError, and then the old content is untouched.
    """
    path = path.resolve()
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        make_private(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, data)
            os.fchmod(fd, mode)
            sync(fd)
        finally:
            os.close(fd)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_directory(path.parent)


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold the exclusive lock of this (empty, lasting) file; waits for other processes and threads. Raises OSError."""
    make_private(lock.parent)
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
