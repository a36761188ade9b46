"""Looking through whole transcripts without loading any: lines with the words, when, and a bounded excerpt."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from codeagent.core.notebook import Excerpt
from codeagent.sessions import codec
from codeagent.sessions.index import logs

_AROUND = 120
"""Characters shown on either side of a hit."""

_SPOKEN = {"user_said", "assistant_said", "tool_finished", "compacted", "noted", "tool_started"}


def search(directory: Path, words: str, limit: int = 20) -> list[Excerpt]:
    """Places in the logs of `directory` where `words` occur (case does not matter), the latest session first.

    At most five a session, so that one talkative session does not hide the others.
    """
    wanted = words.strip()
    if not wanted:
        return []
    found: list[Excerpt] = []
    for path in logs(directory):
        found += _in_log(path, wanted, min(5, limit - len(found)))
        if len(found) >= limit:
            break
    return found


def _in_log(path: Path, wanted: str, limit: int) -> list[Excerpt]:
    found: list[Excerpt] = []
    seek = re.compile(re.escape(_escaped(wanted)), re.IGNORECASE)
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = 0
            while len(found) < limit and (hit := seek.search(data, at)) is not None:
                start = data.rfind(b"\n", 0, hit.start()) + 1
                end = data.find(b"\n", hit.end())
                at = end + 1 if end >= 0 else len(data)
                excerpt = _excerpt(path.stem, data[start : at - 1 if end >= 0 else at], wanted)
                if excerpt is not None:
                    found.append(excerpt)
    except (OSError, ValueError):  # gone, empty or unreadable
        return found
    return found


def _escaped(wanted: str) -> bytes:
    """The words as they stand in a JSON string."""
    return msgspec.json.encode(wanted.encode("utf-8", "replace").decode())[1:-1]


def _excerpt(session: str, line: bytes, wanted: str) -> Excerpt | None:
    place = codec.position(line)
    try:
        entry = msgspec.json.decode(codec.body(line))
    except (ValueError, RecursionError):
        return None
    if place is None or not isinstance(entry, dict) or entry.get("kind") not in _SPOKEN:
        return None
    for text in _texts(entry):
        at = text.casefold().find(wanted.casefold())
        if at >= 0:
            start, end = max(0, at - _AROUND), at + len(wanted) + _AROUND
            cut = " ".join(text[start:end].split())
            shown = f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"
            return Excerpt(session, place[1] / 1000, str(entry["kind"]), shown)
    return None


def _texts(value: Any) -> Iterator[str]:
    """Every string inside a decoded entry; depth is bounded by the decoder."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
