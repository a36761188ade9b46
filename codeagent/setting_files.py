"""One settings file: read with care, named by line, and added to without harm."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from codeagent.core.errors import UsageFault
from codeagent.host.durable import locked, replace
from codeagent.memory.layout import Layout

_MOST = 1_000_000
"""Bytes of the largest settings file that is read."""


Stamp = tuple[int, int, int] | None
"""Change time (ns), size and inode; None where there is no file."""


UNREADABLE = "unreadable"
"""Stands for the digest of a file whose bytes are not known."""


class Broken(UsageFault):
    """A settings file that cannot be used at all; the message says which and why, `digest` as of a SettingsFile."""

    digest = UNREADABLE


class SettingsFile(Struct, frozen=True):
    """A file's text, the object in it, and the sha256 of the bytes that they come from; "" where there was no file."""

    path: Path
    text: str
    content: dict[str, Any]
    digest: str = ""

    def line_of(self, name: str, value: str) -> int:
        """1-based line on which `value` stands in the list `name`; 1 when it cannot be found."""
        start = max(self.text.find(f'"{name}"'), 0)
        for spelt in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
            place = self.text.find(spelt, start)
            if place >= 0:
                return self.text.count("\n", 0, place) + 1
        return 1


def read(path: Path) -> SettingsFile | None:
    """The settings in this file, None when there is no such file. Raises Broken."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise Broken(f"{path} cannot be read: {fault.strerror or fault}.") from None
    if not stat.S_ISREG((found := os.fstat(fd)).st_mode):
        os.close(fd)
        raise Broken(f"{path} is no ordinary file.")
    with os.fdopen(fd, "rb") as file:
        if found.st_size > _MOST:
            raise Broken(f"{path} has {found.st_size:,} bytes; settings have at most {_MOST:,}.")
        data = file.read()
    try:
        return _parsed(path, data)
    except Broken as fault:
        fault.digest = _digest(data)
        raise


def _parsed(path: Path, data: bytes) -> SettingsFile:
    try:
        text = data.decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_no_key_twice) if text.strip() else {}
    except json.JSONDecodeError as fault:
        raise Broken(f"{path}:{fault.lineno} is no valid JSON: {fault.msg.lower()}.") from None
    except RecursionError:
        raise Broken(f"{path} is nested too deeply.") from None
    except ValueError as fault:
        raise Broken(f"{path} cannot be used: {fault}.") from None
    if not isinstance(content, dict):
        raise Broken(f"{path} holds {type(content).__name__}, a JSON object is wanted.")
    return SettingsFile(path, text, content, _digest(data))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def stamp(path: Path) -> Stamp:
    """How a file is now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ctime_ns, found.st_size, found.st_ino


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A second `deny` would silently undo the first."""
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} comes twice")
    return content


Wrote = Callable[[Path, str, str], None]
"""Told of a file that was written, with the digests of what was in it before and after."""


def _untold(path: Path, before: str, after: str) -> None:
    """Nobody wants to know."""


def remember_rule(project: Path, rule: str, wrote: Wrote = _untold) -> str:
    """Add an allow rule to the project's `.agent/settings.local.json`; returns `file:line` where it stands.

    Everything else in the file stays. Raises UsageFault, and then nothing was changed.
    """

    def add(found: SettingsFile) -> None:
        rules = _allow_list(found)
        if rule not in rules:
            rules.append(rule)

    found = _change(project, "rule", add, wrote)
    return f"{found.path}:{found.line_of('allow', rule)}"


def remember_setting(project: Path, name: str, value: bool, wrote: Wrote = _untold) -> str:
    """Store a switch in the project's `.agent/settings.local.json`; returns the file. Raises UsageFault."""
    return str(_change(project, "setting", lambda found: found.content.update({name: value}), wrote).path)


def _change(project: Path, what: str, change: Callable[[SettingsFile], None], wrote: Wrote) -> SettingsFile:
    """Change the object in the local settings, under a lock; the file as it is then."""
    layout = Layout(project)
    path = layout.local_settings
    try:
        layout.ensure()
        if path.is_symlink():
            raise UsageFault(f"The {what} was not stored: {path} is a link.")
        with locked(layout.lock):
            found = read(path) or SettingsFile(path, "", {})
            digest, before = found.digest, json.dumps(found.content)
            change(found)
            if json.dumps(found.content) != before:
                text = json.dumps(found.content, indent=2, ensure_ascii=False) + "\n"
                data = text.encode("utf-8", "backslashreplace")
                replace(path, data)
                found = SettingsFile(path, text, found.content, _digest(data))
    except Broken as fault:
        raise UsageFault(f"The {what} was not stored: {fault} It was left as it is; mend it and try again.") from None
    except OSError as fault:
        raise UsageFault(f"The {what} was not stored: {path} cannot be written: {fault.strerror or fault}.") from None
    wrote(path, digest, found.digest)
    return found


def remember_value(path: Path, name: str, value: object) -> str:
    """Set one setting by its dotted name in this file; returns the file. Raises UsageFault, and changed nothing."""
    try:
        if path.is_symlink():
            raise UsageFault(f"{name} was not stored: {path} is a link.")
        path.parent.mkdir(parents=True, exist_ok=True)
        found = read(path) or SettingsFile(path, "", {})
        group, _, last = name.rpartition(".")
        place = found.content.setdefault(group, {}) if group else found.content
        if not isinstance(place, dict):
            raise Broken(f"{path}: {group} is no object.")
        place[last] = value
        replace(path, (json.dumps(found.content, indent=2, ensure_ascii=False) + "\n").encode())
    except Broken as fault:
        raise UsageFault(f"{name} was not stored: {fault} It was left as it is; mend it and try again.") from None
    except OSError as fault:
        raise UsageFault(f"{name} was not stored: {path} cannot be written: {fault.strerror or fault}.") from None
    return str(path)


def _allow_list(found: SettingsFile) -> list[Any]:
    permissions = found.content.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise Broken(f"{found.path}: permissions is no object.")
    rules = permissions.setdefault("allow", [])
    if not isinstance(rules, list):
        raise Broken(f"{found.path}: permissions.allow is no list.")
    return rules
