"""The log of one session on disk: one writer, one `write()` a line, nothing lost when the disk is full."""

from __future__ import annotations

import fcntl
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from codeagent.core.errors import SessionError
from codeagent.core.events import Entry, Opened, Prepared, ToolFinished, ToolStarted, TurnEnded, UserSaid
from codeagent.host.durable import make_private, replace, sync, sync_directory, write_all
from codeagent.sessions import codec
from codeagent.sessions.earlier import beginning
from codeagent.sessions.load import Loaded, load, resume

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_COPY = 1 << 20


class Log:
    """Appends the entries of a session; made by `create` or `open`, and the only writer while it lives.

    A line that the disk does not take is cut off again, kept in memory and tried again before the next one; `notice`
    hears of it once, and once more when the log has caught up. `now` gives seconds since the epoch; `key` is the user's
    (memory/seal.py) and seals each line, if there is one.
    """

    def __init__(self, path: Path, fd: int, size: int, seq: int, now: Callable[[], float], key: bytes) -> None:
        self.path = path
        self._fd = fd
        self._good = size
        self._next = seq
        self._now = now
        self._key = codec.key_of(key, path.stem) if key else b""
        self._waiting: deque[bytes] = deque()
        self._faulty = False
        self._lasting: set[str] = set()
        self.notice: Callable[[str], None] = _silent

    @classmethod
    def create(cls, path: Path, now: Callable[[], float], key: bytes = b"") -> Log:
        """Begin a new log (0600). Raises SessionError when it exists or cannot be made."""
        try:
            make_private(path.parent)
            fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
            sync_directory(path.parent)
        except FileExistsError:
            raise SessionError(f"There is already a session log at {path}. Use another session id.") from None
        except OSError as fault:
            raise SessionError(f"The session log {path} cannot be made: {fault.strerror or fault}.") from None
        _lock(fd, path)
        return cls(path, fd, 0, 0, now, key)

    @classmethod
    def open(cls, path: Path, now: Callable[[], float], key: bytes = b"") -> tuple[Log, Loaded]:
        """Go on with a log, and what it holds. A torn tail is moved to `<name>.torn-<n>` first.

        Raises SessionError when it is missing, of a newer format, or open in another codeagent.
        """
        try:
            fd = os.open(path, _FLAGS)
        except FileNotFoundError:
            raise SessionError(f"There is no session log at {path}.") from None
        except OSError as fault:
            raise SessionError(f"The session log {path} cannot be opened: {fault.strerror or fault}.") from None
        _lock(fd, path)
        try:
            loaded = resume(path, key)
            if not loaded.entries:
                raise SessionError(f"The session log {path} holds nothing that can be read; it was left as it is.")
            loaded, size = _mend(fd, path, loaded)
        except OSError as fault:
            os.close(fd)
            raise SessionError(
                f"The session log {path} ends in a torn line, which cannot be moved aside: {fault.strerror or fault}. "
                "Nothing was changed."
            ) from None
        except SessionError:
            os.close(fd)
            raise
        return cls(path, fd, size, len(loaded.entries), now, key), loaded

    @property
    def behind(self) -> int:
        """How many entries are in memory only, because the disk did not take them."""
        return len(self._waiting)

    def append(self, entry: Entry) -> None:
        """Write an entry, and sync where losing it would hurt. Raises SessionError when it has no written form."""
        if self._fd < 0:
            raise SessionError(f"The session log {self.path} is closed.")
        self._waiting.append(codec.encode(self._next, int(self._now() * 1000), entry, self._key))
        self._next += 1
        self._catch_up()
        if self._matters(entry):
            self.sync()

    def _matters(self, entry: Entry) -> bool:
        """Whether this must be on the disk before anything else happens: what cannot be undone, and its outcome."""
        if isinstance(entry, ToolStarted) and entry.risk > 1:
            self._lasting.add(entry.use_id)
            return True
        if isinstance(entry, ToolFinished) and entry.use_id in self._lasting:
            self._lasting.discard(entry.use_id)
            return True
        return isinstance(entry, UserSaid | TurnEnded | Prepared)

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        try:
            sync(self._fd)
        except OSError as fault:
            self._trouble(fault.strerror or str(fault))

    def close(self) -> None:
        """Try once more to write what waits, sync, and let others open the log."""
        if self._fd < 0:
            return
        self._catch_up()
        self.sync()
        if self._waiting:
            self.notice(f"The last {self.behind:,} entries of session {self.path.stem} could not be kept.")
        with suppress(OSError):
            beginning(self.path, self._key)  # the next one who opens a long log need not wait for it
        os.close(self._fd)
        self._fd = -1

    def _catch_up(self) -> None:
        late = len(self._waiting) - 1
        try:
            found = os.fstat(self._fd)
            if found.st_size > self._good:  # a torn line that could not be cut off when it was written
                os.ftruncate(self._fd, self._good)
            if found.st_nlink == 0:
                self._restore()
            while self._waiting:
                self._write(self._waiting[0])
                self._waiting.popleft()
        except OSError as fault:
            self._trouble(fault.strerror or str(fault))
            return
        if self._faulty:
            self._faulty = False
            self.notice(f"The session log is written again; {max(late, 0)} waiting entries were added.")

    def _write(self, line: bytes) -> None:
        """One `write()`; whatever part of a line got through is cut off again, which works on a full disk too."""
        try:
            written = os.write(self._fd, line)
        except OSError:
            os.ftruncate(self._fd, self._good)
            raise
        if written != len(line):
            os.ftruncate(self._fd, self._good)
            raise OSError(f"only {written} of {len(line)} bytes fitted")
        self._good += written

    def _restore(self) -> None:
        """The file was deleted under us: write it anew from the copy that the open file still is."""
        make_private(self.path.parent)
        fresh = os.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(fresh, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for offset in range(0, self._good, _COPY):
                write_all(fresh, os.pread(self._fd, min(_COPY, self._good - offset), offset))
        except OSError:
            os.close(fresh)
            self.path.unlink(missing_ok=True)
            raise
        os.close(self._fd)
        self._fd = fresh
        self.notice(f"The session log {self.path} had been deleted; it was written again.")

    def _trouble(self, why: str) -> None:
        if not self._faulty:
            self._faulty = True
            self.notice(
                f"The session log {self.path} cannot be written ({why}). The session goes on in memory, and the log is "
                "tried again at every step: make room to keep it."
            )


def fork(path: Path, new_id: str, upto: int = -1, key: bytes = b"") -> Path:
    """Copy the first `upto` entries of a log (all if negative) into a new one beside it, under a new session id.

    Returns the new log's path. Entries are copied byte for byte, but for the first, which gets the new id; those that
    were ours are sealed anew, another's stay another's. Raises SessionError.
    """
    loaded = load(path)
    first = loaded.entries[0] if loaded.entries else None
    if not isinstance(first, Opened):
        raise SessionError(f"The session log {path} cannot be forked: its first line cannot be read.")
    target = path.with_name(f"{new_id}.jsonl")
    if target.exists():
        raise SessionError(f"There is already a session log at {target}. Use another session id.")
    begin, lines = _first_lines(path, loaded.good_bytes, upto)
    place = codec.position(begin)
    opened = msgspec.structs.replace(first, session=new_id, forked_from=first.session)
    old, new = (codec.key_of(key, path.stem), codec.key_of(key, new_id)) if key else (b"", b"")

    def seal(line: bytes) -> bytes:
        return new if key and codec.sealed(line, old) else b""

    copied = [
        codec.encode(0, place[1] if place else 0, opened, seal(begin)),
        *(codec.resealed(line, seal(line)) for line in lines),
    ]
    try:
        replace(target, b"".join(copied))
    except OSError as fault:
        raise SessionError(f"The fork {target} cannot be written: {fault.strerror or fault}.") from None
    return target


def _first_lines(path: Path, size: int, upto: int) -> tuple[bytes, list[bytes]]:
    """The first line, and the lines after it with numbers below `upto`, whatever they hold."""
    kept: list[bytes] = []
    with path.open("rb") as file:
        first = file.readline()
        for line in file:
            place = codec.position(line)
            if file.tell() > size or (place is not None and 0 <= upto <= place[0]):
                break
            kept.append(line if line.endswith(b"\n") else line + b"\n")
    return first, kept


def _silent(words: str) -> None:
    """Tell nobody."""


def _lock(fd: int, path: Path) -> None:
    """Take the log for ourselves; closes `fd` and raises SessionError when another process has it."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(os.fstat(fd).st_ino)
        os.close(fd)
        raise SessionError(
            f"Session {path.stem} is open in another codeagent{holder}. Close it there, or go on from a copy with "
            "--fork-session."
        ) from None
    except OSError as fault:
        os.close(fd)
        raise SessionError(f"The session log {path} cannot be locked: {fault.strerror or fault}.") from None


def held(path: Path) -> bool:
    """Whether a codeagent has this session open now."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def _holder(inode: int) -> str:
    """The process that holds the lock, in words, where the system tells (Linux)."""
    try:
        held = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return ""
    for line in held:
        words = line.split()
        if words[1:2] == ["FLOCK"] and len(words) > 5 and words[5].endswith(f":{inode}"):
            return f" (process {words[4]})"
    return ""


def _mend(fd: int, path: Path, loaded: Loaded) -> tuple[Loaded, int]:
    """Move a torn tail aside and end the last line; returns what is now true, and the log's size. Raises OSError."""
    if loaded.torn:
        number = 1
        while (aside := path.with_name(f"{path.name}.torn-{number}")).exists():
            number += 1
        replace(aside, loaded.torn)
        os.ftruncate(fd, loaded.good_bytes)
        kept = f"What there was of it is kept in {aside.name}."
        return msgspec.structs.replace(loaded, notices=(*loaded.notices, kept)), loaded.good_bytes
    if not loaded.ended:
        write_all(fd, b"\n")
        return loaded, loaded.good_bytes + 1
    return loaded, loaded.good_bytes
