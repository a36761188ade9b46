"""What the command line gives beside single values: the project, and the layer of settings that it makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codeagent.core.errors import UsageFault
from codeagent.options import Options
from codeagent.settings import SOURCES


def project(cwd: str) -> Path:
    """The directory to work in, resolved; an empty name is the current one. Raises UsageFault."""
    try:
        path = Path(cwd).expanduser().resolve() if cwd else Path.cwd()
        there = path.is_dir()
    except FileNotFoundError:
        raise UsageFault("The current directory is gone. Go to a project first: cd PROJECT") from None
    except OSError as fault:
        raise UsageFault(f"This is no directory to work in: {fault.strerror}. Go to another one: cd PROJECT") from None
    if not there:
        raise UsageFault(f"There is no directory {path}. Name one that is there: codeagent --cwd PROJECT")
    return path


def sources(wanted: str | None) -> frozenset[str]:
    """The layers that `--setting-sources` names, all when it was not given. Raises UsageFault."""
    if wanted is None:
        return SOURCES
    names = frozenset(wanted.replace(",", " ").split())
    if unknown := names - SOURCES:
        raise UsageFault(f"--setting-sources: {', '.join(sorted(unknown))}. Choose from user, project, local.")
    return names


_SAME = {
    "model": "model",
    "fallbackModel": "fallback_model",
    "effort": "effort",
    "maxTurns": "max_turns",
    "maxTokensTotal": "max_tokens_total",
    "maxBudgetUsd": "max_budget_usd",
    "maxSeconds": "max_seconds",
}
"""Setting -> the option that says the same, so that a list of settings shows what holds."""


def overlay(options: Options) -> dict[str, Any]:
    """The command line as settings. Raises UsageFault for `--settings` that cannot be used."""
    layer: dict[str, Any] = {}
    if options.settings:
        layer.update(_settings(options.settings))
    layer.update({name: value for name, field in _SAME.items() if (value := getattr(options, field))})
    for kind, given in (("allow", options.allowed_tools), ("deny", options.disallowed_tools)):
        if given:
            permissions = layer.setdefault("permissions", {})
            permissions[kind] = [*permissions.get(kind, []), *given]
    return layer


def _settings(text: str) -> dict[str, Any]:
    try:
        source = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text(encoding="utf-8")
        given = json.loads(source)
    except OSError as fault:
        raise UsageFault(f"--settings {text}: {fault.strerror or fault}. Give a JSON file or a JSON text.") from None
    except (ValueError, RecursionError) as fault:
        raise UsageFault(f"--settings: not valid JSON ({fault}).") from None
    if not isinstance(given, dict):
        raise UsageFault('--settings: a JSON object is wanted, such as {"model": "opus"}.')
    permissions = given.get("permissions", {})
    if not isinstance(permissions, dict):
        raise UsageFault('--settings: permissions: an object is wanted, such as {"deny": ["Bash(rm *)"]}.')
    for kind in ("allow", "deny"):
        if not isinstance(permissions.get(kind, []), list):
            raise UsageFault(f'--settings: permissions.{kind}: a list of rules is wanted, such as ["Read"].')
    return given
