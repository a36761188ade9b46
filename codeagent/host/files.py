"""Files of the project: read whole or a window of lines, replaced atomically, near names of a missing one.

Paths are absolute and resolved. Everything raises ToolFault with words for the model; `kind` is one
of no_file, is_directory, not_regular, permission, too_large, stale, exists, io.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeagent.core.errors import ToolFault

WHOLE = 64 << 20
"""Bytes up to which a file is held in memory: what `edit` changes, what is decoded exactly."""
SCANNED = 512 << 20
"""Bytes that a window of lines is looked for in."""
_CHUNK = 1 << 20
_TEMPORARY = ".codeagent-"


def digest(data: bytes) -> str:
    """The sha256 by which a file's bytes are known, in hex."""
    return sha256(data).hexdigest()


def load(path: str, limit: int = WHOLE) -> bytes:
    """All bytes of a regular file of at most `limit` bytes. Never waits for a FIFO or a device."""
    with _opened(path) as (fd, size):
        if size > limit:
            raise ToolFault(
                f"{_name(path)} has {size:,} bytes, more than the {limit:,} possible here.", kind="too_large"
            )
        data = b"".join(_chunks(fd, limit + 1))
    if len(data) > limit:
        raise ToolFault(f"{_name(path)} has more than the {limit:,} bytes possible here.", kind="too_large")
    return data


def size_of(path: str) -> int:
    """Bytes of a regular file, as the file system tells them; /proc says 0."""
    with _opened(path) as (_, size):
        return size


def current(path: str) -> bytes | None:
    """The bytes of a file that shall be changed; None when it may be created. Faults where neither is possible."""
    if os.path.lexists(path):
        data = load(path)
        if not os.access(path, os.W_OK):
            raise _protected(path)
        return data
    parent = next(each for each in Path(path).parents if os.path.lexists(each))
    if not parent.is_dir():
        raise ToolFault(f"file_path: {_name(str(parent))} is a file, not a folder.", kind="no_file")
    return None


@dataclass(slots=True)
class Window:
    """Some lines of a file too big for memory.

    `lines` are raw, without line ends, each cut to the width asked for; `total` counts all lines,
    or is 0 when the end was not reached, and then `digest` is empty.
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


def store(path: str, data: bytes, expected: str) -> None:
    """Replace a file's bytes, or create the file with its folders where `expected` is empty.

    `expected` is the sha256 that must be there at the last moment, else nothing is written (`stale`).
    The file is old or new, never half: a temporary file beside it is synced and renamed over it,
    its mode kept. Only a file with several hard links, or in a folder that cannot be written, is
    written in place.
    """
    try:
        if not expected:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            _create(path, data)
            return
        if not os.access(path, os.W_OK):
            raise _protected(path)
        if digest(load(path)) != expected:
            raise stale(path)
        state = Path(path).stat()
        folder = Path(path).parent
        if state.st_nlink > 1 or not os.access(folder, os.W_OK):
            _in_place(path, data)
        else:
            with _temporary(folder, data, state) as made:
                made.replace(path)
            _sync(folder)
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        kind = "permission" if isinstance(error, PermissionError) else "no_file"
        raise ToolFault(f"file_path: {_name(path)} cannot be written: {_why(error)}.", kind=kind) from error
    except OSError as error:
        raise ToolFault(
            f"{_name(path)} could not be written: {_why(error)}. The old content is in place.", kind="io"
        ) from error


def _protected(path: str) -> ToolFault:
    return ToolFault(f"{_name(path)} is write-protected (permission denied).", kind="permission")


def stale(path: str) -> ToolFault:
    """The fault of a file whose bytes are not those that the model knows."""
    return ToolFault(
        f"{_name(path)} has changed on disk since you last read it. Nothing was written. "
        "Read it again, then redo the change.",
        summary="changed since read",
        kind="stale",
    )


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
            f"{_name(path)} is a directory. List what is in it with glob (path and pattern '*').", kind="is_directory"
        )
    if not stat.S_ISREG(mode):
        raise ToolFault(f"{_name(path)} is not a regular file (a device, FIFO or socket).", kind="not_regular")


def _fault(path: str, error: OSError) -> ToolFault:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return ToolFault(f"There is no file {_name(path)}.", kind="no_file")
    if isinstance(error, PermissionError):
        return ToolFault(f"{_name(path)} cannot be read: permission denied.", kind="permission")
    if error.errno in (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP):
        return ToolFault(f"{_name(path)} is not a regular file (a device, FIFO or socket).", kind="not_regular")
    return ToolFault(f"{_name(path)} cannot be read: {_why(error)}.", kind="io")


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


def _create(path: str, data: bytes) -> None:
    """Make a new file, complete from its first moment; fail if the name is taken by then."""
    folder = Path(path).parent
    with _temporary(folder, data, None) as made:
        try:
            os.link(made, path, follow_symlinks=False)
        except FileExistsError:
            raise ToolFault(f"{_name(path)} exists by now. Read it first.", kind="stale") from None
        except OSError:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            _write(fd, data)
    _sync(folder)


@contextmanager
def _temporary(folder: Path, data: bytes, like: os.stat_result | None) -> Iterator[Path]:
    """A hidden file with these bytes, synced, with the mode and owner of `like`; gone afterwards if not renamed."""
    _sweep(folder)
    made = folder / f"{_TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if like is None else 0o600)
    try:
        if like is not None:
            with suppress(PermissionError):
                os.fchown(fd, like.st_uid, like.st_gid)
            os.fchmod(fd, stat.S_IMODE(like.st_mode))
        _write(fd, data)
        yield made
    finally:
        made.unlink(missing_ok=True)


def _in_place(path: str, data: bytes) -> None:
    """Write over the same inode. What grows is written first, so that a full disk leaves the old bytes whole."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    old = os.fstat(fd).st_size
    try:
        if len(data) > old:
            os.posix_fallocate(fd, 0, len(data)) if hasattr(os, "posix_fallocate") else None
        os.ftruncate(fd, len(data))
    except OSError:
        os.ftruncate(fd, old)
        os.close(fd)
        raise
    _write(fd, data)


def _write(fd: int, data: bytes) -> None:
    """All of it, synced, and closed. A full disk shows first as a short write, without an error."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync(folder: Path) -> None:
    """Make the rename itself last; some file systems cannot, and then it lasts a little later."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _sweep(folder: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(_TEMPORARY):
                continue
            owner = entry.name.removeprefix(_TEMPORARY).partition("-")[0]
            if owner.isdigit() and not _lives(int(owner)):
                with suppress(OSError):
                    Path(entry).unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _name(path: str) -> str:
    """The last part of a path, printable: faults do not tell where the project lies."""
    return os.fsencode(Path(path).name or path).decode("utf-8", "backslashreplace")
