"""Paths as tools name them: judged once when planned, and once more before anything happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from codeagent.core.effects import Touch
from codeagent.core.errors import ToolFault
from codeagent.host.files import exists, is_folder, size_of
from codeagent.host.nearby import near_names, twin
from codeagent.host.workspace import Workspace

Judge = Callable[[str, Literal["read", "write"]], Touch]
"""Resolves a path as the model named it and says whether it lies inside the project."""


def judged(judge: Judge, named: str, access: Literal["read", "write"], field: str = "file_path") -> Touch:
    """The judgement; a path that the system cannot take at all is a ToolFault that names the field.

    A missing file gives way to the one sibling whose name differs only in kinds of blanks or Unicode form.
    """
    try:
        touch = judge(named, access)
        if touch.place == "inside" and not exists(touch.path) and (other := twin(touch.path)):
            return judge(other, access)
    except (OSError, ValueError, RuntimeError) as error:
        raise ToolFault(f"{field}: {named!r} is no usable path: {error}.", kind="missing") from error
    if not touch.path.startswith("/"):
        raise ToolFault(f"{field}: {printable(named)} is no usable path: {touch.why or 'malformed'}.", kind="missing")
    return touch


def same_place(judge: Judge, touch: Touch) -> Touch:
    """The touch as it was permitted. A link that leads elsewhere by now is a fault."""
    now = judged(judge, touch.named, touch.access)
    if now.path != touch.path or now.place != touch.place:
        raise ToolFault(
            f"{touch.named} leads to another place than when this was permitted. Nothing was done.", kind="stale"
        )
    return touch


def missing(touch: Touch, root: Path, field: str = "file_path") -> ToolFault:
    """The fault of a path that does not exist, with near names if it lies inside."""
    near = near_names(touch.path, root) if touch.place == "inside" else []
    hint = f" Did you mean {' or '.join(printable(each) for each in near)}?" if near else " Look for it with glob."
    return ToolFault(f"{field}: {printable(touch.named)} does not exist.{hint}", summary="no such file", kind="missing")


def standing(touch: Touch, root: Path) -> tuple[Path, str]:
    """Where to search: a folder and no file, or the folder of a single regular file and its name. Else a fault."""
    path = Path(touch.path)
    if is_folder(touch.path):
        return path, ""
    if not exists(touch.path):
        fault = missing(touch, root, "path")
        raise ToolFault(str(fault), summary=fault.summary, kind="no_path")
    size_of(touch.path)
    return path.parent, path.name


def shown_path(touch: Touch, workspace: Workspace) -> str:
    """The path for people and the model: relative to the root where it lies inside, printable in any case."""
    return shown(touch.path, workspace.root) if touch.place == "inside" else printable(touch.named or touch.path)


def shown(path: str, root: Path) -> str:
    """A path relative to the root if it lies in it."""
    inside = path == str(root) or path.startswith(str(root) + os.sep)
    return printable(os.path.relpath(path, root) if inside else path)


def searched(touch: Touch, workspace: Workspace) -> str:
    """The place of a search for a title: `the project`, or the path."""
    place = shown_path(touch, workspace)
    return "the project" if place == "." else place


def shown_within(touch: Touch, workspace: Workspace, file: str = "") -> Callable[[str], str]:
    """From a path relative to the folder of a touch to one that can be shown and named again: as the call named it.

    With `file`, the touch is this file itself.
    """
    named = touch.path if touch.named.startswith("~") else touch.named or "."
    cwd = workspace.cwd
    if Path(named).is_absolute() and Path(named).is_relative_to(cwd):
        named = os.path.relpath(named, cwd)
    base = os.path.normpath(named)
    if file:
        return lambda _: printable(base)
    before = "" if base == "." else f"{base.rstrip('/')}/"
    return lambda path: printable(before + path)


def printable(name: str) -> str:
    """A name whose bytes may not be UTF-8 or may hold line ends, in a form that can be shown and sent."""
    if name.isascii() and name.isprintable():
        return name
    text = os.fsencode(name).decode("utf-8", "backslashreplace") if _strange(name) else name
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text)


def _strange(name: str) -> bool:
    return any("\udc80" <= char <= "\udcff" for char in name)
