"""Pictures and PDFs, known by their bytes and checked before a request may carry them.

A block that the server cannot read would fail every later request of the session, so that size,
kind and structure are looked at here. The bounds are those of the Messages API.
"""

from __future__ import annotations

import re
from base64 import b64encode

from codeagent.core.errors import ToolFault
from codeagent.core.messages import Document, Image
from codeagent.tools import pictures

PICTURE_BYTES = 3_750_000
"""Bytes of a picture: 5 MB in base64."""
PICTURE_SIDE = 8000
"""Pixels of a side."""
PDF_BYTES = 20 << 20
PDF_PAGES = 100

_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")
_TREE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,6})\b")
"""In a page tree; outlines have counts of their own."""

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
    width, height = pictures.size(data, kind)
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
    if b"startxref" not in data[-2048:] or b"/Root" not in data or not (pages or b"/ObjStm" in data):
        raise ToolFault("The PDF is damaged (it names no pages): a binary file that cannot be shown.", kind="binary")


def pdf_pages(data: bytes) -> int:
    """Pages of a PDF as far as they are written openly; 0 when they hide in compressed objects."""
    trees = [part for part in data.split(b"endobj") if _TREE.search(part)]
    counts = [int(found[1]) for part in trees for found in _COUNT.finditer(part)]
    return max([len(_PAGE.findall(data)), *counts])
