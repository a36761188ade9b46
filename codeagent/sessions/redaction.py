"""The same entries with every text passed through a function that takes credentials out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import convert, to_builtins

from codeagent.core.events import Entry


def redacted(entries: Sequence[Entry], redact: Callable[[str], str]) -> list[Entry]:
    """Copies of the entries; every string in them went through `redact`."""
    return [_clean(entry, redact) for entry in entries]


def _clean(entry: Entry, redact: Callable[[str], str]) -> Entry:
    made: Entry = convert(_texts(to_builtins(entry), redact), type(entry))
    return made


def _texts(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _texts(inner, redact) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(inner, redact) for inner in value]
    return value
