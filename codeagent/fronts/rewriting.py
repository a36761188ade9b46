"""The parts of a call that a person may rewrite before saying yes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EDITABLE = ("command", "new_string", "content")
"""Fields of a tool's input that a person may rewrite before saying yes."""


def texts(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The fields that can be edited with their texts: one, or one of each edit in a list, as `edits.0.new_string`."""
    edits = given.get("edits")
    if isinstance(edits, list | tuple) and edits:
        return tuple(
            (f"edits.{at}.{name}", text)
            for at, edit in enumerate(edits)
            if isinstance(edit, Mapping)
            for name, text in texts({key: value for key, value in edit.items() if key != "edits"})
        )
    return next((((name, given[name]),) for name in EDITABLE if isinstance(given.get(name), str)), ())


def editable(given: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that can be edited, and its text, where there is just one."""
    found = texts(given)
    return found[0] if len(found) == 1 else None


def edited(given: Mapping[str, Any], field: str, text: str) -> dict[str, Any]:
    """The input with that field rewritten."""
    if field.startswith("edits."):
        _, place, name = field.split(".")
        edits = list(given["edits"])
        edits[int(place)] = {**edits[int(place)], name: text}
        return {**given, "edits": edits}
    return {**given, field: text}
