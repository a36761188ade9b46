"""What a command prints: head and tail in memory, the whole in a file, as text that a model can read."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path

EDGE = 64 * 1024
"""Bytes kept in memory at each end, whatever the size."""

FILE_CAP = 64 * 1024 * 1024
"""Bytes of a command's output that are written to disk at most."""

RECENT = 8 * 1024
"""Bytes of unread output that `fresh` gives at most."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[PX^_][^\x1b\n]*\x1b\\"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~])?"
)
_OVERSTRUCK = re.compile(r"[^\n]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Output as it would have looked when done: no escapes, a redrawn line in its last state, no control characters."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    if "\x08" in text:
        text = _OVERSTRUCK.sub("", text)
    return _CONTROLS.sub("", text)


@dataclass(frozen=True, slots=True)
class Shown:
    """Output cut for the model. `omitted` counts bytes left out, `file` holds the whole when something was."""

    text: str
    omitted: int = 0
    file: Path | None = None


class Output:
    """Takes bytes as they come. Memory stays below about 300 KB; the file is made when memory is full, or at once.

    `file` is the path to use; `fault` says why the whole could not be kept there, if so.
    """

    def __init__(self, file: Path, *, always_file: bool = False) -> None:
        self.file = file
        self.total = 0
        self.fault = ""
        self.skipped = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._unread = bytearray()
        self._skipping = 0
        self._sink: int | None = None
        self._made = False
        self._written = 0
        if always_file:
            self._open()

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        self._unread += data[-2 * RECENT :]
        self._skipping += max(0, len(data) - 2 * RECENT)
        if (over := len(self._unread) - 2 * RECENT) > 0:
            self._skipping += over
            del self._unread[:over]
        if not self._made and self.total > 2 * EDGE:
            self._open()
        self._write(data)
        room = EDGE - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-EDGE:]
        if self.total > 2 * EDGE and len(self._tail) > 2 * EDGE:
            del self._tail[:-EDGE]

    def fresh(self) -> str:
        """What came since this was last asked: the last 8 KB of it; `skipped` then tells how many bytes before."""
        end = len(self._unread) - _begun(self._unread)
        start = max(0, end - RECENT)
        piece = _text(bytes(self._unread[start:end])) if start else self._unread[:end].decode(errors="replace")
        self.skipped, self._skipping = self._skipping + start, 0
        del self._unread[:end]
        return plain(piece)

    def shown(self, limit: int) -> Shown:
        """Head and tail in `limit` bytes of UTF-8, cut at line ends where lines are short; the whole is in the file."""
        if self.total <= len(self._head) + len(self._tail):
            text = plain(bytes(self._head + self._tail).decode(errors="replace"))
            head = tail = text.encode()
            size = len(head)
            if size <= limit:
                return Shown(text)
        else:
            head, tail = (plain(_text(bytes(edge))).encode() for edge in (self._head, self._tail))
            size = self.total
        head, tail = _first(head, limit * 2 // 5), _last(tail, limit * 3 // 5)
        if not self._made:
            self._open()
            self.close()
        omitted = max(size - len(head) - len(tail), 1)
        note = f"[... {omitted:,} bytes omitted; {self._where()}]"
        begun = _text(head).rstrip("\n")
        return Shown(f"{begun}\n{note}\n{_text(tail)}", omitted, None if self.fault else self.file)

    def close(self) -> None:
        """Close the file; nothing can be fed after this."""
        if self._sink is not None:
            os.close(self._sink)
            self._sink = None

    def _where(self) -> str:
        if self.fault:
            return f"the full output could not be kept: {self.fault}"
        if self.total > FILE_CAP:
            return f"the first {FILE_CAP // 1024 // 1024} MB of it: {self.file}"
        return f"full output: {self.file}"

    def _open(self) -> None:
        self._made = True
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            self._sink = os.open(self.file, flags, 0o600)
        except OSError as error:
            self.fault = error.strerror or "no file"
            return
        self._write(bytes(self._head + self._tail))

    def _write(self, data: bytes) -> None:
        if self._sink is None:
            return
        room = FILE_CAP - self._written
        view = memoryview(data)[: max(room, 0)]
        try:
            while view:
                count = os.write(self._sink, view)
                self._written += count
                view = view[count:]
        except OSError as error:
            self.fault = error.strerror or "not written"
            self.close()


def _text(data: bytes) -> str:
    """Decode a piece that was cut out: halves of characters at its ends go, what is not UTF-8 is marked."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data[start:], final=False)


def _begun(data: bytes | bytearray) -> int:
    """How many bytes at the end are a UTF-8 character of which more is to come."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return back if back < size else 0
    return 0


def _first(data: bytes, limit: int) -> bytes:
    cut = data[:limit]
    line_end = cut.rfind(b"\n")
    return cut[: line_end + 1] if line_end > limit // 2 else cut


def _last(data: bytes, limit: int) -> bytes:
    cut = data[-limit:]
    line_end = cut.find(b"\n")
    return cut[line_end + 1 :] if 0 <= line_end < limit // 2 else cut
