"""The part of a call that a person may rewrite before saying yes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EDITABLE = ("command", "new_string", "content")
"""Fields of a tool's input that a person may rewrite before saying yes."""


def editable(given: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that can be edited, and its text; a list of one edit counts as that edit."""
    edits = given.get("edits")
    if isinstance(edits, list | tuple) and len(edits) == 1 and isinstance(edits[0], Mapping):
        found = editable(edits[0])
        return (f"edits.{found[0]}", found[1]) if found else None
    return next(((name, given[name]) for name in EDITABLE if isinstance(given.get(name), str)), None)


def edited(given: Mapping[str, Any], field: str, text: str) -> dict[str, Any]:
    """The input with that field rewritten."""
    if field.startswith("edits."):
        return {**given, "edits": [edited(given["edits"][0], field.removeprefix("edits."), text)]}
    return {**given, field: text}
