"""Source code in colour: one Text a line, in the palette's few syntax roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from codeagent.fronts.tui.palette import Palette

LONGEST = 60_000
"""Characters beyond which code stays plain: lexing them takes 0.1 s and more."""

_ROLES = (
    ("Comment", "muted"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Constant", "number"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Function", "name_"),
    ("Name.Class", "name_"),
    ("Name.Decorator", "name_"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name_"),
    ("Generic.Inserted", "added"),
    ("Generic.Deleted", "removed"),
    ("Generic.Heading", "accent"),
)


def _lexer(language: str, path: str) -> Lexer | None:
    from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        if path:
            found = find_lexer_class_for_filename(path)
            return found(stripnl=False, ensurenl=False) if found else None
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def highlight(code: str, palette: Palette, *, language: str = "", path: str = "") -> list[Text]:
    """The lines of `code`, coloured by its language's name or its file's path; plain where neither is known."""
    lexer = _lexer(language, path) if (language or path) and len(code) <= LONGEST else None
    if lexer is None:
        return [Text(line) for line in code.split("\n")]
    lines = [Text()]
    for token, value in lexer.get_tokens(code):
        name = str(token).removeprefix("Token.")
        style = next((getattr(palette, role) for prefix, role in _ROLES if name.startswith(prefix)), "")
        first, *rest = value.split("\n")
        lines[-1].append(first, style)
        for piece in rest:
            lines.append(Text())
            lines[-1].append(piece, style)
    wanted = code.count("\n") + 1
    return (lines + [Text() for _ in range(wanted)])[:wanted]
