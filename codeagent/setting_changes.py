"""Settings files changed: one thing at a time, under a lock, and all else in them kept.

All functions raise UsageFault, and then nothing was changed. A file that is broken or a link is never written over.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeagent.core.errors import UsageFault
from codeagent.host.durable import locked, replace
from codeagent.memory.layout import Layout
from codeagent.setting_files import Broken, SettingsFile, digest_of, read

Wrote = Callable[[Path, str, str], None]
"""Told of a file that was written, with the digests of what was in it before and after."""

_BOTH = ("sandbox",)
"""Settings that are also groups: beside a value, what is in the group is written with a dotted name."""


def _untold(path: Path, before: str, after: str) -> None:
    """Nobody wants to know."""


def remember_rule(project: Path, rule: str, wrote: Wrote = _untold) -> str:
    """Add an allow rule to the project's `.agent/settings.local.json`; returns `file:line` where it stands."""

    def add(found: SettingsFile) -> None:
        rules = _allow_list(found)
        if rule not in rules:
            rules.append(rule)

    found = _change(_local(project, "The rule"), "The rule", add, wrote)
    return f"{found.path}:{found.line_of('allow', rule)}"


def remember_setting(project: Path, name: str, value: bool, wrote: Wrote = _untold) -> str:
    """Store a switch in the project's `.agent/settings.local.json`; returns the file."""
    return remember_value(_local(project, name), name, value, wrote)


def remember_value(path: Path, name: str, value: object, wrote: Wrote = _untold) -> str:
    """Set one setting by its dotted name in this file; returns the file."""

    def put(found: SettingsFile) -> None:
        content = found.content
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

    return str(_change(path, name, put, wrote).path)


def forget_value(path: Path, name: str, wrote: Wrote = _untold) -> bool:
    """Take one setting out of this file; False when it does not stand there."""
    taken: list[bool] = []
    _change(path, name, lambda found: taken.append(_take_out(found.content, name)), wrote)
    return any(taken)


def _local(project: Path, what: str) -> Path:
    layout = Layout(project)
    try:
        layout.ensure()
    except OSError as fault:
        raise UsageFault(
            f"{what} was not stored: {layout.agent} cannot be written: {fault.strerror or fault}."
        ) from None
    return layout.local_settings


def _change(path: Path, what: str, change: Callable[[SettingsFile], None], wrote: Wrote) -> SettingsFile:
    """Change the object in a file; the file as it is then. Nothing is written where nothing was changed."""
    try:
        if path.is_symlink():
            raise UsageFault(f"{what} was not stored: {path} is a link.")
        with locked(path.with_name(".lock")):
            found = read(path) or SettingsFile(path, "", {})
            digest, before = found.digest, json.dumps(found.content)
            change(found)
            if json.dumps(found.content) == before:
                return found
            text = json.dumps(found.content, indent=2, ensure_ascii=False) + "\n"
            data = text.encode("utf-8", "backslashreplace")
            replace(path, data)
    except Broken as fault:
        raise UsageFault(f"{what} was not stored: {fault} It was left as it is; mend it and try again.") from None
    except OSError as fault:
        raise UsageFault(f"{what} was not stored: {path} cannot be written: {fault.strerror or fault}.") from None
    changed = SettingsFile(path, text, found.content, digest_of(data))
    wrote(path, digest, changed.digest)
    return changed


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


def _allow_list(found: SettingsFile) -> list[Any]:
    permissions = found.content.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise Broken(f"{found.path}: permissions is no object.")
    rules = permissions.setdefault("allow", [])
    if not isinstance(rules, list):
        raise Broken(f"{found.path}: permissions.allow is no list.")
    return rules
