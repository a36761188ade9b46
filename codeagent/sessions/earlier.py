"""The beginning of a long log, without reading it: an index beside the log that can be thrown away at any time.

What lies before the last summary is never sent again. Of a log of some size only the rest is loaded, and of the
beginning what still matters (`settling`), which the index keeps. It is sealed with the user's key like the log's lines:
one that came with the project does not count. Without a fitting one, a pass over the log makes it, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import IO

import msgspec

from codeagent.core.events import FORMAT, Compacted, Entry, Rewound
from codeagent.host.durable import read_regular, replace
from codeagent.sessions import codec
from codeagent.sessions.settling import Settling

LARGE = 8 << 20
"""Bytes of a beginning below which it is simply loaded: that takes 0.1 s."""

_LARGEST = 256 << 20
"""Bytes of an index that is read."""

_CHUNK = 4 << 20
_COMPACTED = b'"e":{"kind":"compacted"'
_REWOUND = b'"e":{"kind":"rewound"'


class Beginning(msgspec.Struct, frozen=True):
    """The first `upto` entries of a log, which fill its first `size` bytes.

    `kept` has what matters of them, by position. `foreign` lines of them were not written by this user's codeagent.
    """

    format: int
    upto: int
    size: int
    foreign: int
    kept: dict[int, Entry]


_decoder = msgspec.json.Decoder(Beginning)


def index_of(path: Path) -> Path:
    """Where the index of this log lies."""
    return path.with_name(f"{path.name}.index")


def glance(path: Path) -> Beginning | None:
    """The index as it is, unproven, if it is about this log: good enough for a list, and for nothing else."""
    known = _read(path, None)
    try:
        with path.open("rb") as file:
            return known if known is not None and _stands(file, known) else None
    except OSError:
        return None


def beginning(path: Path, own: bytes = b"", least: int = LARGE) -> Beginning | None:
    """What lies before the last summary of this log; None when that is little, or when a rewind reaches behind it.

    Reads the index, or makes and keeps it; an index that cannot be kept does no harm. `own` is the key of the log's
    lines, `least` what counts as little, in bytes. Raises OSError for the log.
    """
    if path.stat().st_size < least:
        return None
    with path.open("rb", buffering=1 << 20) as file:
        cut = _cut(file)
        if cut is None or cut[1] < least:
            return None
        upto, size = cut
        known = _read(path, own)
        if known is not None and (known.upto, known.size) == cut:
            return known
        made = _settled(file, known if known and known.size < size and _stands(file, known) else None, upto, size, own)
    data = msgspec.json.encode(made)
    index = index_of(path)
    if not index.is_symlink():  # it may have come with the project, and lead anywhere
        with suppress(OSError):
            replace(index, _mac(data, own) + b"\n" + data)
    return made


def _settled(file: IO[bytes], known: Beginning | None, upto: int, size: int, own: bytes) -> Beginning:
    """One pass over the lines before the cut, going on from what an older index knows."""
    settling, foreign, at = Settling(), 0, 0
    if known is not None:
        foreign, at = known.foreign, known.size
        for position, entry in known.kept.items():
            settling.see(position, entry)
    file.seek(at)
    while at < size and (line := file.readline()):
        at += len(line)
        foreign += not codec.sealed(line, own) and codec.position(line) is not None
        with suppress(ValueError):  # a damaged line, which a load would only name
            read = codec.decode(line)
            if known is not None and isinstance(read.entry, Rewound) and read.entry.to < known.upto:
                return _settled(file, None, upto, size, own)  # back into what the index does not tell apart
            settling.see(read.seq, read.entry)
    return Beginning(FORMAT, upto, size, foreign, settling.entries())


def _read(path: Path, own: bytes | None) -> Beginning | None:
    """The index, if it is there, whole, of this format, and sealed with this key (None: whoever made it)."""
    try:
        whole, _ = read_regular(index_of(path), _LARGEST, follow=False)
        mac, _, data = whole.partition(b"\n")
        if own is not None and not compare_digest(mac, _mac(data, own)):
            return None
        found = _decoder.decode(data)
    except (OSError, ValueError, RecursionError):
        return None
    return found if found.format == FORMAT else None


def _mac(data: bytes, own: bytes) -> bytes:
    return blake2b(data, key=own, digest_size=16).hexdigest().encode()


def _stands(file: IO[bytes], known: Beginning) -> bool:
    """Whether the line behind what the index knows is still the one that was there."""
    file.seek(known.size)
    place = codec.position(file.readline())
    return place is not None and place[0] == known.upto


def _cut(file: IO[bytes]) -> tuple[int, int] | None:
    """Number and offset of the first line that the last summary keeps word for word."""
    end = file.seek(0, 2)
    for at, line in _lines_with(file, _COMPACTED, end):
        try:
            read = codec.decode(line)
        except ValueError:
            return None
        if not isinstance(read.entry, Compacted):
            continue
        if _rewound_behind(file, at, end, read.seq):
            return None
        upto = min(read.entry.keep_from, read.seq)
        start = next((a for a, _ in _lines_with(file, b'{"seq":%d,"at":' % upto, at + 1)), None)
        return None if start is None else (upto, start)
    return None


def _rewound_behind(file: IO[bytes], at: int, end: int, seq: int) -> bool:
    """Whether a rewind after the summary goes back to before it."""
    for _, line in _lines_with(file, _REWOUND, end, at):
        try:
            entry = codec.decode(line).entry
        except ValueError:
            return True
        if isinstance(entry, Rewound) and entry.conversation and entry.to <= seq:
            return True
    return False


def _lines_with(file: IO[bytes], needle: bytes, end: int, begin: int = 0) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of the lines from `begin` to `end` that hold `needle`, the last first."""
    while (hit := _last(file, needle, end, begin)) is not None:
        start = _last(file, b"\n", hit)
        at = 0 if start is None else start + 1
        file.seek(at)
        yield at, file.readline()
        end = at


def _last(file: IO[bytes], needle: bytes, end: int, begin: int = 0) -> int | None:
    """Offset of the last place from `begin` to `end` that holds `needle`."""
    while end > begin:
        start = max(begin, end - _CHUNK)
        file.seek(start)
        hit = file.read(end - start).rfind(needle)
        if hit >= 0:
            return start + hit
        if start == begin:
            return None
        end = start + len(needle) - 1
    return None
