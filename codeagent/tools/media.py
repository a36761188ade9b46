"""Pictures and PDFs, known by their bytes and checked before a request may carry them.

A block that the server cannot read would fail every later request of the session, so that size,
kind and structure are looked at here. The bounds are those of the Messages API.
"""

from __future__ import annotations

import re
import struct
from base64 import b64encode

from codeagent.core.errors import ToolFault
from codeagent.core.messages import Document, Image

PICTURE_BYTES = 3_750_000
"""Bytes of a picture: 5 MB in base64."""
PICTURE_SIDE = 8000
"""Pixels of a side."""
PDF_BYTES = 20 << 20
PDF_PAGES = 100

_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(head: bytes) -> str:
    """What a file's first bytes tell: image/png, image/jpeg, image/gif, image/webp, application/pdf, or empty."""
    for magic, kind in _TYPES:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return "application/pdf" if head.startswith(b"%PDF-") else ""


def block(data: bytes, kind: str, name: str) -> Image | Document:
    """The block for these bytes, or ToolFault (`binary`, `too_large`) that says why they cannot be shown."""
    if kind == "application/pdf":
        _check_pdf(data)
        return Document(kind, b64encode(data).decode(), name)
    if len(data) > PICTURE_BYTES:
        raise ToolFault(
            f"{name} is a picture of {len(data):,} bytes; at most {PICTURE_BYTES:,} can be shown. Shrink it first.",
            kind="too_large",
        )
    width, height = dimensions(data, kind)
    if not width or not height:
        raise ToolFault(
            f"{name} begins like {kind}, but is damaged: a binary file that cannot be shown.", kind="binary"
        )
    if max(width, height) > PICTURE_SIDE:
        raise ToolFault(
            f"{name} is {width} x {height} pixels; at most {PICTURE_SIDE} a side can be shown. Make it smaller first.",
            kind="too_large",
        )
    return Image(kind, b64encode(data).decode())


def dimensions(data: bytes, kind: str) -> tuple[int, int]:
    """Width and height in pixels; (0, 0) when the picture is damaged or cut."""
    try:
        return _SIZES[kind](data)
    except (struct.error, IndexError):
        return 0, 0


def _png(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR" or b"IDAT" not in data or b"IEND" not in data[-32:]:
        return 0, 0
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    if b"\x2c" not in data[13:] or not data.rstrip(b"\0").endswith(b"\x3b"):
        return 0, 0
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    """The first start-of-frame segment; there must be a scan after it."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        length = struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return (width, height) if b"\xff\xda" in data[at + length :] else (0, 0)
        at += 2 + length
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    if struct.unpack("<I", data[4:8])[0] + 8 > len(data) + 1:
        return 0, 0
    form = data[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if form == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF


_SIZES = {"image/png": _png, "image/gif": _gif, "image/jpeg": _jpeg, "image/webp": _webp}


def _check_pdf(data: bytes) -> None:
    if len(data) > PDF_BYTES:
        raise ToolFault(
            f"The PDF has {len(data):,} bytes; at most {PDF_BYTES:,} can be shown. Extract the text or a few pages.",
            kind="too_large",
        )
    if b"%%EOF" not in data[-2048:]:
        raise ToolFault(
            "The PDF is cut off (its end mark is missing): a binary file that cannot be shown.", kind="binary"
        )
    if b"/Encrypt" in data[-4096:]:
        raise ToolFault("The PDF is encrypted and cannot be shown. Decrypt it first.", kind="binary")
    pages = pdf_pages(data)
    if pages > PDF_PAGES:
        raise ToolFault(
            f"The PDF has {pages} pages; at most {PDF_PAGES} can be shown. Extract the pages or the text first.",
            kind="too_large",
        )


def pdf_pages(data: bytes) -> int:
    """Pages of a PDF as far as they are written openly; 0 when they hide in compressed objects."""
    counts = [int(n) for n in re.findall(rb"/Count\s+(\d{1,6})\b", data)]
    return max([len(re.findall(rb"/Type\s*/Page\b(?!s)", data)), *counts])
