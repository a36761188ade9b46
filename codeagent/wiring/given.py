"""What the command line says of settings: values on top of the files, and which files count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codeagent.core.errors import UsageFault
from codeagent.options import Options
from codeagent.settings import SOURCES


def sources(wanted: str | None) -> frozenset[str]:
    """The layers that `--setting-sources` names, all when it was not given. Raises UsageFault."""
    if wanted is None:
        return SOURCES
    names = frozenset(wanted.replace(",", " ").split())
    if unknown := names - SOURCES:
        raise UsageFault(f"--setting-sources: {', '.join(sorted(unknown))}. Choose from user, project, local.")
    return names


def overlay(options: Options) -> dict[str, Any]:
    """The command line as settings. Raises UsageFault for `--settings` that cannot be read."""
    given: dict[str, Any] = {}
    if options.settings:
        given.update(_settings_given(options.settings))
    permissions = dict(given.get("permissions", {}))
    for key, rules in (("allow", options.allowed_tools), ("deny", options.disallowed_tools)):
        if rules:
            permissions[key] = [*permissions.get(key, []), *rules]
    if permissions:
        given["permissions"] = permissions
    return given


def _settings_given(text: str) -> dict[str, Any]:
    try:
        source = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text(encoding="utf-8")
        given = json.loads(source)
    except OSError as fault:
        raise UsageFault(f"--settings {text}: {fault.strerror or fault}. Give a JSON file or a JSON text.") from None
    except (ValueError, RecursionError) as fault:
        raise UsageFault(f"--settings: not valid JSON ({fault}).") from None
    if not isinstance(given, dict):
        raise UsageFault('--settings: a JSON object is wanted, such as {"model": "opus"}.')
    return given
