"""Files written: created or replaced, old or new but never half."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codeagent.core.errors import ToolFault
from codeagent.host.files import digest, load, name_of, protected, why
from codeagent.host.living import lives

_TEMPORARY = ".codeagent-"


def store(path: str, data: bytes, expected: str, *, synced: bool = True) -> None:
    """Replace a file's bytes, or create the file with its folders where `expected` is empty.

    `expected` is the sha256 that must be there at the last moment, else nothing is written (`stale`).
    The file is old or new, never half: a temporary file beside it is synced and renamed over it,
    its mode kept. Only a file with several hard links, or in a folder that cannot be written, is
    written in place. A new file that is not `synced` is complete too, but may be gone after a power cut.
    """
    try:
        if not expected:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            _create(path, data, synced)
            return
        if not os.access(path, os.W_OK):
            raise protected(path)
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
        raise ToolFault(f"file_path: {name_of(path)} cannot be written: {why(error)}.", kind=kind) from error
    except OSError as error:
        raise ToolFault(
            f"{name_of(path)} could not be written: {why(error)}. The old content is in place.", kind="io"
        ) from error


def stale(path: str) -> ToolFault:
    """The fault of a file whose bytes are not those that the model knows."""
    return ToolFault(
        f"{name_of(path)} has changed on disk since you last read it. Nothing was written. "
        "Read it again, then redo the change.",
        summary="changed since read",
        kind="stale",
    )


def _create(path: str, data: bytes, synced: bool) -> None:
    """Make a new file, complete from its first moment; fail if the name is taken by then."""
    folder = Path(path).parent
    with _temporary(folder, data, None, synced) as made:
        try:
            os.link(made, path, follow_symlinks=False)
        except FileExistsError:
            raise ToolFault(f"{name_of(path)} exists by now. Read it first.", kind="stale") from None
        except OSError:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            _write(fd, data, synced)
    if synced:
        _sync(folder)


@contextmanager
def _temporary(folder: Path, data: bytes, like: os.stat_result | None, synced: bool = True) -> Iterator[Path]:
    """A hidden file with these bytes, with the mode and owner of `like`; gone afterwards if not renamed."""
    if synced:
        sweep(folder)
    made = folder / f"{_TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if like is None else 0o600)
    try:
        if like is not None:
            with suppress(PermissionError):
                os.fchown(fd, like.st_uid, like.st_gid)
            os.fchmod(fd, stat.S_IMODE(like.st_mode))
        _write(fd, data, synced)
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


def _write(fd: int, data: bytes, synced: bool = True) -> None:
    """All of it, and closed. A full disk shows first as a short write, without an error."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if synced:
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


def sweep(folder: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(_TEMPORARY):
                continue
            owner = entry.name.removeprefix(_TEMPORARY).partition("-")[0]
            if owner.isdigit() and not lives(int(owner)):
                with suppress(OSError):
                    Path(entry).unlink()
