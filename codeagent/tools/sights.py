"""Which files a shell line has shown: `cat f` counts as having read f."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from codeagent.core.effects import ShellReading
from codeagent.core.events import Saw

_WHOLE = frozenset({"cat", "nl"})
_GREPS = frozenset({"grep", "egrep", "fgrep", "rg"})
_PATTERN_FIRST = _GREPS | {"sed"}
_PART = _PATTERN_FIRST | {"head", "tail"}
_MOVES = frozenset({"cd", "pushd", "popd"})
_NAMES_ONLY = re.compile(r"-[A-Za-z]*[clLq]|--(?:count|files|quiet|silent).*")
"""Options with which grep tells names or counts, and shows no line."""

_LARGEST = 10_000_000
"""Bytes up to which a shown file is hashed."""


def sights(command: str, reading: ShellReading, cwd: Path, *, cut: bool) -> tuple[Saw, ...]:
    """Sights of the files that a successful line printed. `cut` says that its output was not shown in full.

    Only what is certain counts: every part is a plain command, nothing goes through a pipe, and
    the directory stays the same. `head`, `tail`, `sed -n`, `grep` give a sight of a part (lines 0 to 0:
    which ones is unknown).
    """
    parts = [part.words for part in reading.parts if part.words]
    if not reading.plain or len(parts) != len(reading.parts) or "|" in command:
        return ()
    if any(words[0] in _MOVES for words in parts):
        return ()
    found = (_sight(path, whole=words[0] in _WHOLE and not cut) for words in parts for path in _files(words, cwd))
    return tuple(saw for saw in found if saw)


def _files(words: Sequence[str], cwd: Path) -> list[Path]:
    """The files that a command names, when it is one that prints them."""
    program, *rest = words
    if program == "sed" and "-n" not in rest:
        return []
    if program not in _WHOLE | _PART or (program in _GREPS and any(map(_NAMES_ONLY.match, rest))):
        return []
    names = [word for word in rest if word == "-" or not word.startswith("-")]
    if program in _PATTERN_FIRST:
        names = names[1:]
    return [path for name in names if (path := (cwd / name).resolve()).is_file()]


def _sight(path: Path, *, whole: bool) -> Saw | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    digest = hashlib.sha256(data).hexdigest()
    last = data.count(b"\n") + (not data.endswith(b"\n")) if whole and data else 0
    return Saw(str(path), digest, 1 if whole else 0, last, whole)
