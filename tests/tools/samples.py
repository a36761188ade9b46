"""Small real pictures and a PDF, sound in every byte."""

from __future__ import annotations

import struct
import zlib


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *, depth: int = 8, colour: int = 2, interlaced: int = 0, rows: bytes = b"") -> bytes:
    """A real picture, all black."""
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    data = rows or bytes((1 + (width * bits + 7) // 8) * height * (2 if interlaced else 1))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(6)) if colour == 3 else b""
    packed = zlib.compress(data)
    half = len(packed) // 2
    parts = chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + parts + chunk(b"IEND", b"")


GIF = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002014400 3b".replace(" ", "")
)
FRAME = struct.pack(">HBHHB", 11, 8, 30, 40, 1) + b"\x01\x11\x00"
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xdb\x00\x43" + bytes(65) + b"\xff\xc0" + FRAME + b"\xff\xc4\x00\x03\x00"
    b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"\x12\xff\x00\x34\xff\xd0\x56" + b"\xff\xd9"
)


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = b"".join(kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1) for kind, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WEBP" + parts


LOSSY = (b"VP8 ", b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", 10, 5) + bytes(9))
WEBP = webp((b"VP8X", bytes(4) + (9).to_bytes(3, "little") + (4).to_bytes(3, "little")), LOSSY)
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
    b"4 0 obj<</Type/Outlines/Count 400>>endobj\n"
    b"xref\n0 1\n0000000000 65535 f \ntrailer<</Size 5/Root 1 0 R>>\nstartxref\n200\n%%EOF\n"
)
SOUND = {
    "png": png(3, 4),
    "png, grey, 1 bit": png(9, 2, depth=1, colour=0),
    "png, palette": png(5, 5, depth=4, colour=3),
    "png, 16 bit": png(2, 2, depth=16, colour=6),
    "png, interlaced": png(9, 9, interlaced=1),
    "gif": GIF,
    "jpeg": JPEG,
    "webp": webp(LOSSY),
    "webp, lossless": webp((b"VP8L", b"\x2f" + bytes(9))),
    "webp, extended": WEBP,
    "pdf": PDF,
}
