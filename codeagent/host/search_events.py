"""The events of `rg --json`, which both engines speak: put in order, and read into what a query asks for."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.json import decode

from codeagent.host.programs import CHUNK

COUNTED = 100_000
"""Matching lines of one file that are counted: ripgrep holds them all at once, at about 400 bytes each."""
WIDTH = 500
"""Characters of a line that are kept, around the first hit."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `wanted` says of a path, relative to the folder, whether it counts."""

    pattern: str
    literal: bool = False
    ignore_case: bool = False
    word: bool = False
    multiline: bool = False
    pcre: bool = False
    before: int = 0
    after: int = 0
    rules: bool = True
    wanted: Callable[[str], bool] = lambda _: True
    names_only: bool = False
    """Only which files have a hit is asked; the counts of lines are then not right."""
    skip: int = 0
    """Matching lines passed over before lines are kept."""
    keep: int = 0
    """Matching lines kept, at most; more are only counted."""
    counted: int = COUNTED
    """Matching lines counted of one file, at most."""

    @property
    def most(self) -> int:
        """Matching lines of one file that are looked for."""
        return 1 if self.names_only else max(self.counted, self.skip + self.keep)


@dataclass(frozen=True, slots=True)
class Line:
    """A line found, or one beside it (`hit` False); `path` is relative to the folder."""

    path: str
    number: int
    text: str
    hit: bool


@dataclass(slots=True)
class Found:
    """Matching lines by file, the lines kept, and what was not searched or shown."""

    counts: dict[str, int] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    endless: list[str] = field(default_factory=list)
    """Files with more matching lines than were counted."""
    skipped: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All matching lines of text files that were counted."""
        return sum(self.counts.values())


_MATCH = b'{"type":"match"'
_BEGIN = b'{"type":"begin"'
_END = b'{"type":"end"'


class Sorting:
    """Puts ripgrep's files in order, which it finds on several processors at once (`--sort` would take one alone).

    Of each file the first `limit` hits are held, and no more files with hits than it takes to fill the limit in the
    order of their paths; of the others only where they begin and end, for the counts.
    """

    full = False

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._files: list[tuple[list[str], int, list[bytes]]] = []
        self._events: list[bytes] = []
        self._hits = 0
        self._held = 0

    def take(self, line: bytes) -> None:
        """One event; those of one file come together."""
        if line.startswith(_MATCH):
            self._hits += 1
            if self._hits > self._limit:
                return
        elif self._hits > self._limit and not line.startswith(_END):
            return
        elif line.startswith(_BEGIN):
            self._events, self._hits = [], 0
        self._events.append(line)
        if line.startswith(_END):
            self._keep()

    def _keep(self) -> None:
        hits = min(self._hits, self._limit)
        self._files.append((_path(decode(self._events[0])["data"]["path"]).split("/"), hits, self._events))
        self._held += hits
        self._events, self._hits = [], 0
        if self._held > 8 * self._limit:
            self._prune()

    def _prune(self) -> None:
        """Let go of the hits of files that others come before in sufficient number."""
        self._files.sort(key=lambda file: file[0])
        before = 0
        for at, (path, hits, events) in enumerate(self._files):
            if hits and before >= self._limit:
                self._files[at] = (path, 0, [events[0], events[-1]])
            before += hits
        self._held = sum(hits for _, hits, _ in self._files)

    def tell(self, reading: Reading) -> None:
        """All of it, in the order of the paths."""
        for _, _, events in sorted(self._files, key=lambda file: file[0]):
            for event in events:
                reading.take(event)


_FRAME = re.compile(rb'\{"type": ?"(?:begin|end|skipped|error)"')
"""Events that count when no more lines are kept."""


class Reading:
    """Takes events in turn and keeps what the query asks for; what lies beyond is only counted."""

    def __init__(self, query: Query, found: Found) -> None:
        self._query = query
        self._found = found
        self._seen = 0
        self._wanted = True
        self._before = 0, 0
        """Lines kept and hits seen before the file that is being read, for it may turn out to be binary."""
        self.error = ""

    @property
    def full(self) -> bool:
        """Whether the lines asked for are there, with those beside them."""
        return self._seen > self._query.skip + self._query.keep

    def take(self, line: bytes) -> None:
        """One event."""
        if line.startswith((b'{"type":"match"', b'{"type": "match"')):
            self._match(line)
        elif line.startswith((b'{"type":"context"', b'{"type": "context"')):
            if self._wanted and 0 <= self._seen - self._query.skip <= self._query.keep:
                self._keep(line, hit=False)
        elif line:
            self._other(decode(line))

    def _match(self, line: bytes) -> None:
        if not self._wanted:
            return
        self._seen += 1
        if self._query.skip < self._seen <= self._query.skip + self._query.keep:
            self._keep(line, hit=True)

    def _keep(self, line: bytes, *, hit: bool) -> None:
        data = decode(line)["data"]
        first = data["submatches"][0]["start"] if data["submatches"] else 0
        raw = _raw(data["lines"])
        parts = raw.split(b"\n")
        if not parts[-1]:
            parts.pop()
        path = _path(data["path"])
        for number, part in enumerate(parts or [b""], data["line_number"]):
            self._found.lines.append(Line(path, number, _cut(part, first), hit))

    def _other(self, event: dict[str, Any]) -> None:
        data = event["data"]
        kind = event["type"]
        if kind == "begin":
            self._wanted = self._query.wanted(_path(data["path"]))
            self._before = len(self._found.lines), self._seen
        elif kind == "end" and self._wanted:
            path = _path(data["path"])
            if data["binary_offset"] is not None:
                self._found.binary.append(path)
                kept, self._seen = self._before
                del self._found.lines[kept:]
            elif hits := data["stats"]["matched_lines"]:
                self._found.counts[path] = min(hits, self._query.most)
                if hits > self._query.most:
                    self._found.endless.append(path)
        elif kind == "skipped":
            self._found.skipped.append(_path(data["path"]))
        elif kind == "error":
            self.error = str(data)


async def read_all(stream: Any, reading: Reading | Sorting) -> None:
    """Take all lines, of any length; memory holds one chunk and one line."""
    rest: list[bytes] = []
    while chunk := await stream.read(CHUNK):
        head, *more = chunk.split(b"\n")
        rest.append(head)
        if more:
            reading.take(b"".join(rest))
            rest = [more.pop()]
            for line in filter(_FRAME.match, more) if reading.full else more:
                reading.take(line)
    reading.take(b"".join(rest))


def _raw(data: dict[str, str]) -> bytes:
    return data["text"].encode() if "text" in data else base64.b64decode(data["bytes"])


def _path(data: dict[str, str]) -> str:
    return os.fsdecode(_raw(data)).removeprefix("./")


def _cut(line: bytes, first: int) -> str:
    """The line without CR, as text, cut around the byte where the hit begins."""
    line = line.removesuffix(b"\r")
    if len(line) <= WIDTH:
        return line.decode("utf-8", "replace")
    start = max(0, min(first - WIDTH // 4, len(line) - WIDTH))
    middle = line[start : start + WIDTH].decode("utf-8", "ignore")
    before = f"[{start:,} bytes cut]…" if start else ""
    after = len(line) - start - WIDTH
    return before + middle + (f"…[{after:,} bytes cut]" if after > 0 else "")


def beside(lines: Sequence[Line], before: int, after: int) -> Iterator[Line]:
    """Without the context lines whose hit was not kept."""
    near: set[tuple[str, int]] = set()
    for line in lines:
        if line.hit:
            near.update((line.path, number) for number in range(line.number - before, line.number + after + 1))
    return (line for line in lines if line.hit or (line.path, line.number) in near)
