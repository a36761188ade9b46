"""One entry, one line: how the log is spelt, and how a line proves that it is whole.

    {"seq":12,"at":1764444444123,"crc":"1a2b3c4d","e":{"kind":"user_said",...}}

`at` is milliseconds since the epoch. `crc` is the crc32 of every byte before `,"crc"` and of the bytes of `e`, so that
a changed number is noticed as well as a changed word. Between `crc` and `e` there may be a `"mac"`: a checksum of the
same bytes with a key that lies outside the project: it tells a log that we wrote from one that came with the project.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from hmac import compare_digest
from typing import Any
from zlib import crc32

import msgspec

from codeagent.core.errors import SessionError
from codeagent.core.events import Entry

HEAD = rb'(\{"seq":(\d{1,18}),"at":(-?\d{1,18})),"crc":"([0-9a-f]{8})"(?:,"mac":"([0-9a-f]{16})")?,"e":'
"""Everything before the entry: what is checked, position, time, checksum, seal."""

_LINE = re.compile(HEAD)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


class Line(msgspec.Struct, frozen=True):
    """A line that was read: position, time in milliseconds since the epoch, and the entry."""

    seq: int
    at: int
    entry: Entry


class Unknown(ValueError):
    """A whole line whose entry this version does not know; `seq` is its position."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq = seq


def encode(seq: int, at: int, entry: Entry, key: bytes = b"") -> bytes:
    """The line of an entry, with its line end, sealed if there is a key.

    Raises SessionError for input nested too deeply to be written.
    """
    try:
        body = _plain(entry)
    except RecursionError:
        raise SessionError(f"A {type(entry).__name__} entry is nested too deeply to be kept in the log.") from None
    return _line(b'{"seq":%d,"at":%d' % (seq, at), body, key)


def _line(head: bytes, body: bytes, key: bytes) -> bytes:
    mac = b',"mac":"%b"' % _mac(head, body, key) if key else b""
    return b'%b,"crc":"%08x"%b,"e":%b}\n' % (head, crc32(body, crc32(head)), mac, body)


def _mac(head: bytes, body: bytes, key: bytes) -> bytes:
    checksum = blake2b(head, key=key, digest_size=8)
    checksum.update(body)
    return checksum.hexdigest().encode()


def key_of(key: bytes, session: str) -> bytes:
    """The key of one session's lines, from the user's: a line of one session does not pass for another's."""
    return blake2b(session.encode("utf-8", "surrogateescape"), key=key, digest_size=32).digest()


def sealed(line: bytes, key: bytes) -> bool:
    """Whether this line was written with this key."""
    found = _LINE.match(line)
    if found is None or found[5] is None:
        return False
    return compare_digest(found[5], _mac(found[1], bare(line)[found.end() : -1], key))


def whole(line: bytes) -> bool:
    """Whether this is a line of a log with nothing damaged in it, whatever its entry means."""
    found = _LINE.match(line)
    rest = bare(line)
    return (
        found is not None
        and rest.endswith(b"}")
        and crc32(rest[found.end() : -1], crc32(found[1])) == int(found[4], 16)
    )


def resealed(line: bytes, key: bytes) -> bytes:
    """The same line for another key (none: unsealed); a damaged line stays as it is."""
    found = _LINE.match(line)
    return _line(found[1], bare(line)[found.end() : -1], key) if found and whole(line) else line


def _plain(entry: Entry) -> bytes:
    try:
        return _encoder.encode(entry)
    except UnicodeEncodeError:
        # a lone surrogate (a file name that is no UTF-8, a broken reply) has no UTF-8 form: escaped, it survives
        return json.dumps(msgspec.to_builtins(entry), separators=(",", ":")).encode("ascii")


def decode(line: bytes) -> Line:
    """The entry of a line (with or without its line end).

    Raises Unknown when the line is whole but of a kind or shape that this version does not know, and ValueError with
    the reason when it is damaged.
    """
    found = _LINE.match(line)
    if found is None:
        raise ValueError("not a line of a session log")
    head, seq, at, crc, _ = found.groups()
    rest = bare(line)
    body = rest[found.end() : -1]
    if not rest.endswith(b"}") or crc32(body, crc32(head)) != int(crc, 16):
        raise ValueError("its checksum does not fit")
    try:
        return Line(int(seq), int(at), _decoder.decode(body))
    except msgspec.ValidationError as fault:
        raise Unknown(int(seq), str(fault)) from None
    except (ValueError, RecursionError) as fault:
        if _SURROGATE.search(body) is None:
            raise Unknown(int(seq), str(fault)) from None
        return Line(int(seq), int(at), _with_surrogates(int(seq), body))


def _with_surrogates(seq: int, body: bytes) -> Entry:
    """The long way, for the escapes that the fast decoder refuses."""
    try:
        value: Any = json.loads(body)
        return msgspec.convert(value, Entry)  # type: ignore[no-any-return]  # a union of kinds, as above
    except (ValueError, RecursionError) as fault:
        raise Unknown(seq, str(fault)) from None


def position(line: bytes) -> tuple[int, int] | None:
    """Position and time of a line, unchecked and without its entry: for lists and searches of many lines."""
    found = _LINE.match(line)
    return None if found is None else (int(found[2]), int(found[3]))


def body(line: bytes) -> bytes:
    """The bytes of the entry in a line, unchecked; empty when it is no line of a log."""
    found = _LINE.match(line)
    return b"" if found is None else bare(line)[found.end() : -1]


def bare(line: bytes) -> bytes:
    """A line without its end, CRLF too: git and editors may have changed it, and nothing in a line ends so itself."""
    return line.rstrip(b"\r\n")
