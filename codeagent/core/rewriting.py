"""The same entry with every text in it passed through a function: how words are taken out of a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import convert, to_builtins

from codeagent.core.events import Entry


def rewritten(entry: Entry, change: Callable[[str], str]) -> Entry:
    """A copy in which `change` saw every string, names of fields in inputs too."""
    made: Entry = convert(changed(to_builtins(entry), change), type(entry))
    return made


def changed(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON value with every string in it changed, keys too."""
    match value:
        case str():
            return change(value)
        case dict():
            return {changed(key, change): changed(each, change) for key, each in value.items()}
        case list() | tuple():
            return [changed(each, change) for each in value]
        case _:
            return value
