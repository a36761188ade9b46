"""A Jupyter notebook as text: cells with their sources and what they printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

OUTPUT = 4000
"""Characters shown of one cell's output."""


def as_text(source: str) -> str | None:
    """The cells as one text, or None when this is no notebook (then it is read as plain text)."""
    try:
        data = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        return None
    return "\n".join(line for at, cell in enumerate(data["cells"], 1) for line in _cell(at, cell))


def _cell(at: int, cell: Any) -> Iterator[str]:
    if not isinstance(cell, dict):
        return
    yield f"[cell {at}: {cell.get('cell_type', 'unknown')}]"
    yield _joined(cell.get("source"))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            yield from _output(at, output)


def _output(at: int, output: dict[str, Any]) -> Iterator[str]:
    found = output.get("data")
    data: dict[str, Any] = found if isinstance(found, dict) else {}
    text = _joined(output.get("text") or data.get("text/plain") or output.get("traceback"))
    if text:
        left_out = len(text) - OUTPUT
        yield f"[output of cell {at}]"
        yield text[:OUTPUT] + (f"\n[{left_out:,} characters of output left out]" if left_out > 0 else "")
    for kind, value in data.items():
        if kind != "text/plain":
            yield f"[{kind} output of cell {at} left out: {len(_joined(value)):,} characters]"


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(each) for each in value)
    return value if isinstance(value, str) else "" if value is None else str(value)
