"""One settings file: read with care, named by line, and added to without harm."""

from __future__ import annotations

import json
import os
import re
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


class Broken(UsageFault):
    """A settings file that cannot be used at all; the message says which and why."""


class SettingsFile(Struct, frozen=True):
    """A file's text and the object in it."""

    path: Path
    text: str
    content: dict[str, Any]

    def line_of(self, name: str, value: str) -> int:
        """1-based line on which `value` stands in the list `name`; 1 when it cannot be found."""
        start = max(self.text.find(f'"{name}"'), 0)
        for spelt in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
            place = self.text.find(spelt, start)
            if place >= 0:
                return self.text.count("\n", 0, place) + 1
        return 1

    def line_of_key(self, name: str) -> int:
        """1-based line on which the setting of this dotted name stands; 1 when it cannot be found."""
        group, _, last = name.rpartition(".")
        for words in ([name], [group, last]):
            place = 0
            for word in words:
                found = re.compile(rf"{re.escape(json.dumps(word))}\s*:").search(self.text, place)
                place = found.start() if found else -1
                if place < 0:
                    break
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
    return SettingsFile(path, text, content)


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


def remember_rule(project: Path, rule: str) -> str:
    """Add an allow rule to the project's `.agent/settings.local.json`; returns `file:line` where it stands.

    Everything else in the file stays. Raises UsageFault, and then nothing was changed.
    """

    def add(found: SettingsFile) -> None:
        rules = _allow_list(found)
        if rule not in rules:
            rules.append(rule)

    found = _change(project, "rule", add)
    return f"{found.path}:{found.line_of('allow', rule)}"


def remember_setting(project: Path, name: str, value: bool) -> str:
    """Store a switch in the project's `.agent/settings.local.json`; returns the file. Raises UsageFault."""
    return str(_change(project, "setting", lambda found: found.content.update({name: value})).path)


def _change(project: Path, what: str, change: Callable[[SettingsFile], None]) -> SettingsFile:
    """Change the object in the local settings, under a lock; the file as it is then."""
    layout = Layout(project)
    path = layout.local_settings
    try:
        layout.ensure()
        if path.is_symlink():
            raise UsageFault(f"The {what} was not stored: {path} is a link.")
        with locked(layout.lock):
            found = read(path) or SettingsFile(path, "", {})
            before = json.dumps(found.content)
            change(found)
            if json.dumps(found.content) != before:
                text = json.dumps(found.content, indent=2, ensure_ascii=False) + "\n"
                replace(path, text.encode("utf-8", "backslashreplace"))
                found = SettingsFile(path, text, found.content)
    except Broken as fault:
        raise UsageFault(f"The {what} was not stored: {fault} It was left as it is; mend it and try again.") from None
    except OSError as fault:
        raise UsageFault(f"The {what} was not stored: {path} cannot be written: {fault.strerror or fault}.") from None
    return found


def remember_value(path: Path, name: str, value: object) -> str:
    """Set one setting by its dotted name in this file; returns the file. Raises UsageFault, and changed nothing."""

    def put(content: dict[str, Any]) -> bool:
        _take_out(content, name)
        group, _, last = name.rpartition(".")
        if isinstance(held := content.get(name), dict):  # `sandbox` is a setting and a group: what it holds stays
            content.update({f"{name}.{inner}": of for inner, of in held.items()})
        if group and isinstance(place := content.setdefault(group, {}), dict):
            place[last] = value
        elif group and group not in _BOTH:
            raise Broken(f"{path}: {group} is no object.")
        else:
            content[name] = value
        return True

    _rewrite(path, name, put)
    return str(path)


def forget_value(path: Path, name: str) -> bool:
    """Take one setting out of this file; False when it does not stand there. Raises UsageFault, and changed nothing."""
    return _rewrite(path, name, lambda content: _take_out(content, name))


_BOTH = ("sandbox",)
"""Settings that are also groups: beside a value, what is in the group is written with a dotted name."""


def _take_out(content: dict[str, Any], name: str) -> bool:
    """Remove a setting, however it is written; an object that held nothing else goes too."""
    group, _, last = name.rpartition(".")
    held = content.get(group) if group else None
    found = name in content and not (name in _BOTH and isinstance(content[name], dict))
    if found:
        del content[name]
    if isinstance(held, dict) and last in held:
        del held[last]
        found = True
        if not held:
            del content[group]
    return found


def _rewrite(path: Path, name: str, change: Callable[[dict[str, Any]], bool]) -> bool:
    """Change the object in a file, under a lock; nothing is written when `change` says so."""
    try:
        if path.is_symlink():
            raise UsageFault(f"{name} was not stored: {path} is a link.")
        with locked(path.with_name(".lock")):
            found = read(path) or SettingsFile(path, "", {})
            changed = change(found.content)
            if changed:
                text = json.dumps(found.content, indent=2, ensure_ascii=False) + "\n"
                replace(path, text.encode("utf-8", "backslashreplace"))
    except Broken as fault:
        raise UsageFault(f"{name} was not stored: {fault} It was left as it is; mend it and try again.") from None
    except OSError as fault:
        raise UsageFault(f"{name} was not stored: {path} cannot be written: {fault.strerror or fault}.") from None
    return changed


def _allow_list(found: SettingsFile) -> list[Any]:
    permissions = found.content.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise Broken(f"{found.path}: permissions is no object.")
    rules = permissions.setdefault("allow", [])
    if not isinstance(rules, list):
        raise Broken(f"{found.path}: permissions.allow is no list.")
    return rules
