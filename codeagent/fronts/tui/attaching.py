"""Pictures that go with a message: from the clipboard, or from a file that was dropped on the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from codeagent.core.errors import ToolFault
from codeagent.core.messages import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MOST = 20 << 20
"""Bytes of a file that are read to see whether it is a picture."""


def dropped(text: str, project: Path) -> Path | None:
    """The picture's file that a pasted text names: a path, quoted or escaped as terminals do it, or a file address."""
    text = text.strip()
    if "\n" in text or not text.lower().rstrip("'\"").endswith(SUFFIXES):
        return None
    if text.startswith("file://"):
        words = [unquote(urlsplit(text).path)]
    else:
        try:
            words = shlex.split(text)
        except ValueError:
            return None
    for name in (text, *words[:1]) if len(words) == 1 else (text,):
        path = project / Path(name).expanduser()
        try:
            if path.is_file() and path.stat().st_size <= MOST:
                return path
        except OSError:
            continue
    return None


def picture(data: bytes, name: str) -> Image:
    """The picture, checked. Raises ToolFault with words for a person."""
    from codeagent.tools import media  # reads pictures; nobody needs it to start

    kind = media.media_type(data[:64])
    block = media.block(data, kind, name) if kind.startswith("image/") else None
    if not isinstance(block, Image):
        raise ToolFault(f"{name} is no picture that can be shown (PNG, JPEG, GIF, WebP).", kind="binary")
    return block
