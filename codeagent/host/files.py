"""Files read: whole, or a window of lines of one that is too big for that.

Paths are absolute and resolved. Everything raises ToolFault with words for the model; `kind` is one
of no_file, is_directory, not_regular, permission, too_large, stale, exists, io.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeagent.core.errors import ToolFault

WHOLE = 64 << 20
"""Bytes up to which a file is held in memory: what `edit` changes, what is decoded exactly."""
SCANNED = 512 << 20
"""Bytes that a window of lines is looked for in."""
_CHUNK = 1 << 20


def digest(data: bytes) -> str:
    """The sha256 by which a file's bytes are known, in hex."""
    return sha256(data).hexdigest()


def load(path: str, limit: int = WHOLE) -> bytes:
    """All bytes of a regular file of at most `limit` bytes. Never waits for a FIFO or a device."""
    with _opened(path) as (fd, size):
        if size > limit:
            raise ToolFault(
                f"{name_of(path)} has {size:,} bytes, more than the {limit:,} possible here.", kind="too_large"
            )
        data = b"".join(_chunks(fd, limit + 1))
    if len(data) > limit:
        raise ToolFault(f"{name_of(path)} has more than the {limit:,} bytes possible here.", kind="too_large")
    return data


def size_of(path: str) -> int:
    """Bytes of a regular file, as the file system tells them; /proc says 0."""
    with _opened(path) as (_, size):
        return size


def exists(path: str) -> bool:
    """Whether there is anything by this name, be it a link that leads nowhere."""
    return os.path.lexists(path)


def is_folder(path: str) -> bool:
    """Whether the path leads to a folder."""
    return Path(path).is_dir()


def real(path: Path) -> str:
    """Where a path leads when all links are followed."""
    return str(path.resolve())


def refuse_special(path: str) -> None:
    """Raise ToolFault if the path leads, through whatever links, to something that is no regular file."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return
    check_regular(path, mode)


def current(path: str) -> bytes | None:
    """The bytes of a file that shall be changed; None when it may be created. Faults where neither is possible."""
    if os.path.lexists(path):
        data = load(path)
        if not os.access(path, os.W_OK):
            raise protected(path)
        return data
    parent = next(each for each in Path(path).parents if os.path.lexists(each))
    if not parent.is_dir():
        raise ToolFault(f"file_path: {name_of(str(parent))} is a file, not a folder.", kind="no_file")
    return None


@dataclass(slots=True)
class Window:
    """Some lines of a file too big for memory.

    `lines` are raw, without line ends, each cut to the width asked for; `total` counts all lines,
    or is 0 when the end was not reached, and then `digest` is empty. A file with NUL in its `head` is not read on.
    """

    lines: list[bytes]
    head: bytes
    total: int = 0
    digest: str = ""
    last: int = 0
    """The number of the last line reached."""


def window(path: str, first: int, count: int, width: int) -> Window:
    """Lines `first` to `first + count - 1`, 1-based, found by streaming through at most `SCANNED` bytes."""
    found = Window([], b"")
    hashed = sha256()
    number, scanned, rest, ended = 1, 0, bytearray(), True
    with _opened(path) as (fd, _):
        for chunk in _chunks(fd, SCANNED):
            found.head = found.head or chunk[:8192]
            if b"\0" in found.head:
                return found
            scanned += len(chunk)
            hashed.update(chunk)
            breaks = chunk.count(b"\n")
            if number + breaks < first or number >= first + count:
                rest = bytearray(chunk[chunk.rfind(b"\n") + 1 :][:width]) if breaks else rest
            else:
                number = _collect(found.lines, chunk, rest, number, range(first, first + count), width) - breaks
            number += breaks
            ended = chunk.endswith(b"\n")
    found.last = number - 1 if ended else number
    if rest and not ended and first <= number < first + count:
        found.lines.append(bytes(rest))
    if scanned < SCANNED:
        found.total, found.digest = found.last, hashed.hexdigest()
    return found


def _collect(lines: list[bytes], chunk: bytes, rest: bytearray, number: int, wanted: range, width: int) -> int:
    """Take the wanted lines that end in this chunk; `rest` is the line that goes on from the one before."""
    start = 0
    while (end := chunk.find(b"\n", start)) >= 0:
        if number in wanted:
            room = max(0, width - len(rest))
            lines.append(bytes(rest) + chunk[start : min(end, start + room)])
        rest.clear()
        number += 1
        start = end + 1
    rest += chunk[start : start + max(0, width - len(rest))]
    return number


def protected(path: str) -> ToolFault:
    """The fault of a file that may not be written."""
    return ToolFault(f"{name_of(path)} is write-protected (permission denied).", kind="permission")


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, int]]:
    """A regular file, opened for reading, and its size."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise _fault(path, error) from error
    try:
        state = os.fstat(fd)
        check_regular(path, state.st_mode)
        yield fd, state.st_size
    except OSError as error:
        raise _fault(path, error) from error
    finally:
        os.close(fd)


def check_regular(path: str, mode: int) -> None:
    """Raise ToolFault unless these mode bits are a regular file's."""
    if stat.S_ISDIR(mode):
        raise ToolFault(
            f"{name_of(path)} is a directory. List what is in it with glob (path and pattern '*').", kind="is_directory"
        )
    if not stat.S_ISREG(mode):
        raise ToolFault(f"{name_of(path)} is not a regular file (a device, FIFO or socket).", kind="not_regular")


def _fault(path: str, error: OSError) -> ToolFault:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return ToolFault(f"There is no file {name_of(path)}.", kind="no_file")
    if isinstance(error, PermissionError):
        return ToolFault(f"{name_of(path)} cannot be read: permission denied.", kind="permission")
    if error.errno in (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP):
        return ToolFault(f"{name_of(path)} is not a regular file (a device, FIFO or socket).", kind="not_regular")
    return ToolFault(f"{name_of(path)} cannot be read: {why(error)}.", kind="io")


def _chunks(fd: int, most: int) -> Iterator[bytes]:
    while most > 0:
        try:
            chunk = os.read(fd, min(_CHUNK, most))
        except BlockingIOError:
            return
        if not chunk:
            return
        most -= len(chunk)
        yield chunk


def why(error: OSError) -> str:
    """The system's reason in words."""
    return error.strerror or str(error)


def name_of(path: str) -> str:
    """The last part of a path, printable: faults do not tell where the project lies."""
    return os.fsencode(Path(path).name or path).decode("utf-8", "backslashreplace")
