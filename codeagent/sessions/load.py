"""From the bytes of a log to its entries: whatever can be read is read, and what cannot is named."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from codeagent.core.errors import SessionError
from codeagent.core.events import FORMAT, Entry, Lost
from codeagent.sessions import codec
from codeagent.sessions.earlier import LARGE, Beginning, beginning
from codeagent.sessions.settling import spread

_LF = 10

_RAW = 400
"""Bytes of a damaged line that its `Lost` quotes; the log itself keeps them all."""

_GAP = 1_000_000
"""A jump in the numbers beyond this is not filled: such a log was not written by us."""


class Loaded(msgspec.Struct, frozen=True):
    """A log that was read. `entries[i]` has number i.

    `notices` tell a person what could not be read. The first `good_bytes` of the file are whole lines; `torn` is what
    follows them: a line that a crash cut short. `ended` is False when the last whole line lacks its line end.
    """

    entries: list[Entry]
    notices: tuple[str, ...] = ()
    good_bytes: int = 0
    torn: bytes = b""
    ended: bool = True


class _Format(msgspec.Struct):
    format: int = 1


def load(path: Path) -> Loaded:
    """Read a log whole. Raises SessionError when there is none, or when a newer codeagent wrote it."""
    return _load(path, None)


def resume(path: Path, key: bytes = b"", least: int = LARGE) -> Loaded:
    """Read what a session needs to go on: of a long log, what lies before its last summary is not loaded.

    `key` is the user's; a beginning under `least` bytes is loaded all the same. Raises SessionError like `load`.
    """
    try:
        before = beginning(path, codec.key_of(key, path.stem) if key else b"", least)
    except OSError:
        before = None  # the load will say why
    return _load(path, before)


def _load(path: Path, before: Beginning | None) -> Loaded:
    try:
        with path.open("rb", buffering=1 << 20) as file, _uncollected():
            reading = _Reading(path)
            if before is not None:
                reading.entries = spread(before.kept, before.upto)
                file.seek(before.size)
            return reading.read(file)
    except FileNotFoundError:
        raise SessionError(f"There is no session log at {path}.") from None
    except OSError as fault:
        raise SessionError(f"The session log {path} cannot be read: {fault.strerror or fault}.") from None


def foreign_digest(path: Path, key: bytes) -> str:
    """The sha256 of the lines that this user's codeagent did not write, empty when there are none. Raises SessionError.

    Damaged lines do not count: they say nothing. What we append later does not change it. `key` is the user's
    (memory/seal.py). A log with such lines is content of the project: it needs trust.
    """
    own, digest, found = codec.key_of(key, path.stem), sha256(), False
    try:
        with path.open("rb", buffering=1 << 20) as file:
            before = beginning(path, own) if codec.sealed(file.readline(), own) else None
            # What the index knows to be ours need not be read: 100 MB of lines take a second.
            file.seek(before.size if before is not None and not before.foreign else 0)
            for line in file:
                if not codec.sealed(line, own) and codec.whole(line):
                    found = True
                    digest.update(codec.bare(line) + b"\n")
    except OSError as fault:
        raise SessionError(f"The session log {path} cannot be read: {fault.strerror or fault}.") from None
    return digest.hexdigest() if found else ""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Entries make no cycles: looking for some while 100,000 of them are made takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reading:
    """The state of one pass: entries so far, and damaged lines whose places are not yet known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.pending: list[Lost] = []
        self.lost = self.unknown = self.repeated = 0

    def read(self, file: IO[bytes]) -> Loaded:
        good, line = file.tell(), b"\n"
        for line in file:
            if not good:
                self._check_format(line)
            if not self._take(line):
                break
            good += len(line)
        else:
            self._settle(len(self.entries) + len(self.pending))
            return Loaded(self.entries, self._notices(b""), good, b"", line[-1] == _LF)
        self._settle(len(self.entries) + len(self.pending))
        return Loaded(self.entries, self._notices(line), good, line)

    def _check_format(self, line: bytes) -> None:
        try:
            found = msgspec.json.decode(codec.body(line), type=_Format).format
        except (ValueError, RecursionError):
            return
        if found > FORMAT:
            raise SessionError(
                f"The session log {self.path} has format {found}, and this codeagent reads formats up to {FORMAT}. "
                "Update codeagent to open it; the log was left as it is."
            )

    def _take(self, line: bytes) -> bool:
        """Take one line; False when it is the torn last one."""
        try:
            read = codec.decode(line)
            seq, entry = read.seq, read.entry
        except codec.Unknown as fault:
            seq, entry = fault.seq, Lost(f"not known to this version: {fault}", _quote(line))
            self.unknown += 1
        except ValueError as fault:
            if line[-1] != _LF:
                return False
            self._damaged(line, str(fault))
            return True
        due = len(self.entries)
        if seq == due:
            if self.pending:
                self._settle(seq)
            self.entries.append(entry)
        elif seq < due:
            self.repeated += 1
        elif seq > due + _GAP:
            self._damaged(line, f"its number {seq} cannot be")
        else:
            self._settle(seq)
            self.entries.append(entry)
        return True

    def _damaged(self, line: bytes, why: str) -> None:
        self.lost += 1
        self.pending.append(Lost(why, _quote(line)))

    def _settle(self, seq: int) -> None:
        """Give the damaged lines their places before number `seq`, and mark lines that are missing there."""
        room = seq - len(self.entries)
        kept = self.pending[:room]
        self.lost += room - len(kept)
        self.entries += kept
        self.entries += [Lost("this line is missing")] * (room - len(kept))
        self.pending.clear()

    def _notices(self, torn: bytes) -> tuple[str, ...]:
        said = []
        if self.lost:
            said.append(f"{_lines(self.lost)} of the session log could not be read and {_was(self.lost)} passed over.")
        if self.unknown:
            said.append(f"{_lines(self.unknown)} of the session log came from a newer codeagent and cannot be shown.")
        if self.repeated:
            said.append(f"{_lines(self.repeated)} of the session log came twice and {_was(self.repeated)} passed over.")
        if torn:
            said.append(f"The last line of the session log was cut short after {len(torn)} bytes.")
        return tuple(said)


def _quote(line: bytes) -> str:
    return line[:_RAW].decode("utf-8", "replace").rstrip("\r\n")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
