"""Ignore files, read as git reads them, for folders that no git looks after."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.globs import translate

NAME = ".gitignore"
_SIZE = 1 << 20
"""Bytes read of one ignore file."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file: which names or paths, files too or folders only, ignored or brought back."""

    matches: re.Pattern[str]
    by_name: bool
    folders_only: bool
    ignores: bool


@dataclass(frozen=True, slots=True)
class Layer:
    """The rules of one folder; `folder` is its absolute path with a slash at the end."""

    folder: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the last rule that fits this absolute path ignores it; None when no rule fits."""
        inner = path[len(self.folder) :]
        name = inner.rpartition("/")[2]
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.matches.fullmatch(name if rule.by_name else inner):
                return rule.ignores
        return None


def parse(text: str) -> tuple[Rule, ...]:
    """The rules of an ignore file's text, in order; lines that mean nothing are passed over."""
    return tuple(rule for line in text.split("\n") if (rule := _rule(line.removesuffix("\r"))))


def _rule(line: str) -> Rule | None:
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\) +$", "", line)
    ignores = not line.startswith("!")
    pattern = line if ignores else line[1:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or "//" in pattern or pattern.endswith("/") or _ends_escaping(pattern):
        return None
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if pattern == "**":
        pattern, anchored = "*", False
    tail = "/**" if pattern.endswith("/**") else ""
    regex = translate(pattern.removesuffix(tail) if tail else pattern, lenient=True)
    return Rule(re.compile(regex + ("/.+" if tail else ""), re.DOTALL), not anchored, folders_only, ignores)


def _ends_escaping(pattern: str) -> bool:
    return (len(pattern) - len(pattern.rstrip("\\"))) % 2 == 1


def walk(root: str, top: str, *, rules: bool, troubles: list[str]) -> Iterator[str]:
    """Files and links below `root`, relative to it, without `.git`; links are not followed.

    With `rules`, ignored ones are left out; the rules begin in the folder `top`, which holds `root`.
    Folders that cannot be read are put into `troubles`.
    """
    start = root.rstrip("/") + "/"
    above = _above(Path(root), Path(top)) if rules else ()
    folders = [(start, above)]
    while folders:
        folder, layers = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            troubles.append(folder[len(start) :] or ".")
            continue
        if rules and any(entry.name == NAME for entry in entries):
            layers = (*layers, *_layer(folder))
        below = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or (layers and _ignored(entry.path, layers, is_folder=is_folder)):
                continue
            if is_folder:
                below.append((entry.path + "/", layers))
            else:
                yield entry.path[len(start) :]
        folders += reversed(below)


def lifted(root: Path, top: Path) -> bool:
    """Whether rules between `top` and `root` leave out this very folder: who names it wants to see into it."""
    places = [place for place in (root, *root.parents) if place != top and place.is_relative_to(top)]
    return any(_ignored(str(place), _above(place, top), is_folder=True) for place in places)


def leaves_out(path: Path, top: Path) -> bool:
    """Whether rules between `top` and a file leave out this file, not asking about the folders that hold it."""
    return _ignored(str(path), _above(path, top), is_folder=False)


def _ignored(path: str, layers: Sequence[Layer], *, is_folder: bool) -> bool:
    """Whether the nearest layer with an opinion ignores this path."""
    for layer in reversed(layers):
        if (verdict := layer.verdict(path, is_folder=is_folder)) is not None:
            return verdict
    return False


def _above(root: Path, top: Path) -> tuple[Layer, ...]:
    """The layers of the folders from `top` down to the one that holds `root`."""
    places = [place for place in reversed(root.parents) if place.is_relative_to(top)]
    return tuple(layer for place in places for layer in _layer(str(place).rstrip("/") + "/"))


def _layer(folder: str) -> tuple[Layer, ...]:
    path = Path(folder, NAME)
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                rules = parse(os.fsdecode(file.read(_SIZE).removeprefix(b"\xef\xbb\xbf")))
            return (Layer(folder, rules),) if rules else ()
    return ()
