"""Source code in colour: one Text a line, in the palette's few syntax roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from codeagent.fronts.colouring import Role, coloured

if TYPE_CHECKING:
    from codeagent.fronts.tui.palette import Palette

LONGEST = 60_000
"""Characters beyond which code stays plain: lexing them takes 0.1 s and more."""

_FIELDS: dict[Role, str] = {"name": "name_", "heading": "accent"}
"""The palette's names of roles that it calls otherwise."""


def highlight(code: str, palette: Palette, *, language: str = "", path: str = "") -> list[Text]:
    """The lines of `code`, coloured by its language's name or its file's path; plain where neither is known."""
    lines = []
    for pieces in coloured(code, path=path, language=language, most=LONGEST):
        line = Text()
        for role, piece in pieces:
            line.append(piece, getattr(palette, _FIELDS.get(role, role)) if role else "")
        lines.append(line)
    return lines
