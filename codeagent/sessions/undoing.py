"""What a file was before a recorded change: the change taken back from its diff, and proven by its hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from codeagent.core.events import Entry, ToolFinished
from codeagent.core.views import Diff, Hunk

_UNENDED = "\n\\ no newline at the end of the file"
"""What a diff puts behind a last line without line end."""


def changes(entries: Sequence[Entry]) -> Iterator[tuple[Diff, str, str]]:
    """Changes that edit tools made, the last first: the diff, and the file's sha256 before ("" for none) and after."""
    for entry in reversed(entries):
        if isinstance(entry, ToolFinished) and isinstance(entry.view, Diff) and entry.after and not entry.is_error:
            yield entry.view, entry.before, entry.after


def before(data: bytes, change: Diff, digest: str) -> bytes | None:
    """The bytes that had this sha256 before the change, None when the diff does not lead back to them."""
    windows = b"\r\n" in data
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    lines: list[str] | None = text.split("\n")
    for hunk in reversed(change.hunks):
        lines = _without(lines, hunk) if lines is not None else None
    if lines is None or change.omitted:
        return None
    old = "\n".join(lines)
    for candidate in (old, f"{old}\n", old.removesuffix("\n"), ""):
        spelt = candidate.replace("\n", "\r\n") if windows else candidate
        made = spelt.encode("utf-8", "surrogateescape")
        if sha256(made).hexdigest() == digest:
            return made
    return None


def _without(lines: list[str], hunk: Hunk) -> list[str] | None:
    """The lines without this hunk, None where it does not fit."""
    parts = [line.removesuffix(_UNENDED) for line in hunk.lines]
    new = [line[1:] for line in parts if line[:1] != "-"]
    old = [line[1:] for line in parts if line[:1] != "+"]
    start = hunk.new_start - 1
    if lines[start : start + len(new)] != new:
        return None
    return [*lines[:start], *old, *lines[start + len(new) :]]
