"""Walks the structure of pictures: a damaged one would fail every later request of the session.

PNG is verified to its last byte (checksums, and that its data unpack to the promised size); of the
others every block is walked, so that what is cut, garbled in its headers or only looks like a
picture is found. Pixels are not decoded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

UNPACKED = 64 << 20
"""Bytes of pixels up to which a PNG is unpacked to be verified (0.3 s)."""

Size = tuple[int, int]


class Damaged(Exception):
    """Its structure is broken."""


def size(data: bytes, kind: str) -> Size:
    """Width and height in pixels of a picture of this media type; (0, 0) when it is damaged or cut."""
    try:
        width, height = _SIZES[kind](data)
    except (Damaged, struct.error, IndexError, zlib.error):
        return 0, 0
    return (width, height) if width and height else (0, 0)


# --- PNG ---

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""Adam7: first column and row, steps."""


def _png(data: bytes) -> Size:
    chunks = list(_png_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if not chunks or kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or b"IDAT" not in kinds:
        raise Damaged
    width, height, depth, colour, packing, filtering, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth not in _DEPTHS.get(colour, ()) or packing or filtering or interlaced > 1:
        raise Damaged
    if colour == 3 and b"PLTE" not in kinds:
        raise Damaged
    bits = depth * _CHANNELS[colour]
    wanted = sum(rows * (1 + (columns * bits + 7) // 8) for columns, rows in _png_passes(width, height, interlaced))
    if wanted <= UNPACKED:
        _unpacks(b"".join(content for kind, content in chunks if kind == b"IDAT"), wanted)
    return width, height


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk up to the end mark; raises at a wrong checksum."""
    at = 8
    while True:
        (length,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(kind + content) != checksum:
            raise Damaged
        yield kind, content
        if kind == b"IEND":
            return
        at += 12 + length


def _png_passes(width: int, height: int, interlaced: int) -> Iterator[Size]:
    if not interlaced:
        yield width, height
        return
    for left, top, across, down in _PASSES:
        columns, rows = (width - left + across - 1) // across, (height - top + down - 1) // down
        if columns > 0 and rows > 0:
            yield columns, rows


def _unpacks(packed: bytes, wanted: int) -> None:
    if len(zlib.decompressobj().decompress(packed, wanted)) < wanted:
        raise Damaged


# --- GIF ---


def _gif(data: bytes) -> Size:
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + _table(flags)
    pictures = 0
    while (mark := data[at]) != 0x3B:
        if mark == 0x21:
            at = _gif_blocks(data, at + 2)
        elif mark == 0x2C:
            at += 10 + _table(data[at + 9])
            if not 1 <= data[at] <= 11 or not data[at + 1]:
                raise Damaged
            at = _gif_blocks(data, at + 1)
            pictures += 1
        else:
            raise Damaged
    return (width, height) if pictures else (0, 0)


def _table(flags: int) -> int:
    """Bytes of the colour table that these flags announce."""
    return 3 << (1 + (flags & 7)) if flags & 0x80 else 0


def _gif_blocks(data: bytes, at: int) -> int:
    while length := data[at]:
        at += 1 + length
    return at + 1


# --- JPEG ---

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_START_OF_SCAN, _END = 0xDA, 0xD9


def _jpeg(data: bytes) -> Size:
    """Segment by segment to the end mark; there must be quantization tables, one frame, and a scan after it."""
    at, found, seen = 2, (0, 0), set()
    while True:
        if data[at] != 0xFF:
            raise Damaged
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        at += 1
        if marker == _END:
            break
        (length,) = struct.unpack_from(">H", data, at)
        if length < 2 or at + length > len(data):
            raise Damaged
        if marker in _FRAMES:
            found = _frame(data, at, length)
        seen.add(marker)
        at += length
        if marker == _START_OF_SCAN:
            at = _after_scan(data, at)
    if 0xDB not in seen or _START_OF_SCAN not in seen:
        raise Damaged
    return found


def _frame(data: bytes, at: int, length: int) -> Size:
    precision, height, width, components = struct.unpack_from(">BHHB", data, at + 2)
    if precision not in (8, 12) or components not in (1, 3, 4) or length != 8 + 3 * components:
        raise Damaged
    return width, height


def _after_scan(data: bytes, at: int) -> int:
    """Where the next marker begins; FF00 is a byte of pixels, FFD0 to FFD7 are restarts."""
    while (at := data.find(b"\xff", at)) >= 0:
        if data[at + 1] not in (0x00, 0xFF) and not 0xD0 <= data[at + 1] <= 0xD7:
            return at
        at += 1 if data[at + 1] == 0xFF else 2
    raise Damaged


# --- WebP ---


def _webp(data: bytes) -> Size:
    chunks = list(_webp_chunks(data))
    kind, at = chunks[0]
    if kind == b"VP8X":
        if not any(other in (b"VP8 ", b"VP8L", b"ANMF") for other, _ in chunks[1:]):
            raise Damaged
        return 1 + int.from_bytes(data[at + 4 : at + 7], "little"), 1 + int.from_bytes(data[at + 7 : at + 10], "little")
    if kind == b"VP8L" and data[at] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, at + 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and not data[at] & 1 and data[at + 3 : at + 6] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, at + 6)
        return width & 0x3FFF, height & 0x3FFF
    raise Damaged


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Kind of each chunk and where its content begins."""
    end = 8 + struct.unpack_from("<I", data, 4)[0]
    if end > len(data) + 1:
        raise Damaged
    at = 12
    while at < end - 1:
        kind, length = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if at + 8 + length > len(data):
            raise Damaged
        yield kind, at + 8
        at += 8 + length + (length & 1)


_SIZES: dict[str, Callable[[bytes], Size]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
