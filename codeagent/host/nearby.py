"""What may have been meant: names that are close to one that does not exist."""

from __future__ import annotations

import difflib
import os
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ENTRIES = 20_000
"""Directory entries looked at, at most."""
_COMPARED = 2_000
"""Siblings that a name is compared with, at most: each takes up to 0.1 ms, and a folder may hold 200,000."""
_SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv"}


def twin(path: str) -> str:
    """The one sibling whose name differs only in kinds of blanks or Unicode form; empty if there is none."""
    wanted = Path(path)
    meant = _folded(wanted.name)
    with suppress(OSError):
        twins = [name for name in _names(wanted.parent) if _folded(name) == meant]
        if len(twins) == 1 and twins[0] != wanted.name:
            return str(wanted.parent / twins[0])
    return ""


def near_names(path: str, root: Path, count: int = 3) -> list[str]:
    """Existing paths, relative to `root`, that are close to a missing one inside it: siblings, then namesakes."""
    wanted = Path(path)
    if not wanted.is_relative_to(root):
        return []
    near: list[str] = []
    parent = wanted.parent
    with suppress(OSError):
        names = {name.casefold(): name for name in _siblings(wanted)}
        close = difflib.get_close_matches(wanted.name.casefold(), names, count, 0.6)
        near += [os.path.relpath(parent / names[each], root) for each in close]
    if not near or not parent.is_dir():
        near += [os.path.relpath(each, root) for each in _namesakes(wanted.name, root)]
    return list(dict.fromkeys(near))[:count]


def _siblings(wanted: Path) -> list[str]:
    """Names beside it; of very many those around it in the order of the alphabet, which begin alike."""
    names = _names(wanted.parent)
    if len(names) > _COMPARED:
        names.sort(key=str.casefold)
        first = max(0, bisect_left(names, wanted.name.casefold(), key=str.casefold) - _COMPARED // 2)
        names = names[first : first + _COMPARED]
    return names


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _namesakes(name: str, root: Path) -> Iterator[str]:
    """Files of this name anywhere below `root`, breadth first."""
    folders, seen = [str(root)], 0
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                if entry.name == name:
                    yield entry.path
                if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                    folders.append(entry.path)
        if seen > _ENTRIES:
            return


def _folded(name: str) -> str:
    if name.isascii():
        return name
    return "".join(" " if unicodedata.category(c) == "Zs" else c for c in unicodedata.normalize("NFC", name))
