"""Source code in pieces, each with the role that a palette or a style sheet gives a colour to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Role = Literal["", "muted", "string", "number", "keyword", "name", "added", "removed", "heading"]

_ROLES: tuple[tuple[str, Role], ...] = (
    ("Comment", "muted"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Constant", "number"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Decorator", "name"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name"),
    ("Generic.Inserted", "added"),
    ("Generic.Deleted", "removed"),
    ("Generic.Heading", "heading"),
)
"""Beginning of a token's name -> role; the first that fits counts."""


def coloured(code: str, *, path: str = "", language: str = "", most: int) -> list[list[tuple[Role, str]]]:
    """The lines of `code`, each as pieces of one role, by its file's path or its language's name.

    One piece a line where neither is known, and beyond `most` characters.
    """
    lexer = _lexer(path, language) if (path or language) and len(code) <= most else None
    if lexer is None:
        return [[("", line)] for line in code.split("\n")]
    lines: list[list[tuple[Role, str]]] = [[]]
    for role, text in _tokens(lexer, code):
        first, *rest = text.split("\n")
        lines[-1].append((role, first))
        lines += [[(role, piece)] for piece in rest]
    wanted = code.count("\n") + 1  # a lexer may drop or add line ends
    return (lines + [[] for _ in range(wanted)])[:wanted]


def _tokens(lexer: Lexer, code: str) -> Iterator[tuple[Role, str]]:
    for token, text in lexer.get_tokens(code):
        name = str(token).removeprefix("Token.")
        yield next((role for prefix, role in _ROLES if name.startswith(prefix)), ""), text


def _lexer(path: str, language: str) -> Lexer | None:
    from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        if path:
            found = find_lexer_class_for_filename(path)
            return found(stripnl=False, ensurenl=False) if found else None
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
