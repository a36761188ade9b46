"""Code, diffs and Markdown as HTML. Everything that comes in is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from codeagent.core.clean import clean
from codeagent.core.views import Diff

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 200_000
"""Characters beyond which code stays plain: lexing them takes 0.3 s."""

_CLASSES = (
    ("Comment", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "n"),
    ("Keyword.Constant", "n"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Name.Function", "f"),
    ("Name.Class", "f"),
    ("Name.Decorator", "f"),
    ("Name.Tag", "k"),
    ("Name.Attribute", "f"),
    ("Generic.Inserted", "ins"),
    ("Generic.Deleted", "del"),
)
"""Beginning of a token's name -> class in the style sheet."""

_NUMBERED = re.compile(r" *(\d+)\t(.*)")


def text(words: str) -> str:
    """Words as HTML text: controls made visible, then escaped."""
    return escape(clean(words))


def lines(code: str, *, path: str = "", language: str = "") -> list[str]:
    """The lines of `code` in colour, by its file's path or its language's name; plain where neither is known."""
    lexer = _lexer(path, language) if (path or language) and len(code) <= LONGEST else None
    if lexer is None:
        return [text(line) for line in code.split("\n")]
    made = [""]
    for token, value in lexer.get_tokens(code):
        name = str(token).removeprefix("Token.")
        kind = next((short for prefix, short in _CLASSES if name.startswith(prefix)), "")
        for at, piece in enumerate(value.split("\n")):
            if at:
                made.append("")
            if piece:
                made[-1] += f'<span class="{kind}">{text(piece)}</span>' if kind else text(piece)
    return made


def block(code: str, *, path: str = "", language: str = "") -> str:
    """Code as a block; the line numbers that a `read` puts before its lines go into the margin."""
    rows = code.rstrip("\n").split("\n")
    numbered = [_NUMBERED.fullmatch(row) for row in rows]
    if path and all(numbered):
        shown = lines("\n".join(row[2] for row in numbered if row), path=path)
        numbers = [row[1] for row in numbered if row]
        return _table((f"<i>{number}</i>", "", line) for number, line in zip(numbers, shown, strict=True))
    return f"<pre>{chr(10).join(lines(code, path=path, language=language))}</pre>"


def diff(change: Diff) -> str:
    """A change with line numbers, signs and colours."""
    return _table(_rows(change))


def _rows(change: Diff) -> Iterator[tuple[str, str, str]]:
    for at, hunk in enumerate(change.hunks):
        if at:
            yield "<i>…</i>", "", ""
        shown = lines("\n".join(line[1:].replace("\n", " ") for line in hunk.lines), path=change.path)
        old, new = hunk.old_start, hunk.new_start
        for line, coloured in zip(hunk.lines, shown, strict=True):
            sign = line[:1]
            number = old if sign == "-" else new
            old, new = old + (sign != "+"), new + (sign != "-")
            kind = {"+": "add", "-": "rem"}.get(sign, "")
            yield f"<i>{number}</i><b>{text(sign)}</b>", kind, coloured
    if change.omitted:
        yield "<i>…</i>", "", f"{change.omitted:,} more lines of this change are not shown"


def _table(rows: Iterator[tuple[str, str, str]]) -> str:
    """Rows of margin, class and code. Margins are not selected when the code is copied."""
    made = "".join(f'<span class="row {kind}">{margin}{code}</span>' for margin, kind, code in rows)
    return f'<pre class="numbered">{made}</pre>'


def markdown(words: str) -> str:
    """Markdown as HTML. HTML in it is shown as text, pictures are not fetched, links that run something are none."""
    from markdown_it import MarkdownIt

    def fence(tokens: Sequence[Any], index: int, _options: object, _env: object) -> str:
        token = tokens[index]
        return block(token.content.rstrip("\n"), language=token.info.strip().split(" ")[0])

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.renderer.rules["fence"] = fence  # type: ignore[attr-defined]  # declared for the protocol without rules
    return str(parser.render(clean(words)))


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
