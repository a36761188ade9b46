"""Code, diffs and Markdown as HTML. Everything that comes in is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from codeagent.core.clean import clean
from codeagent.core.views import Diff
from codeagent.fronts.colouring import Role, coloured

LONGEST = 200_000
"""Characters beyond which code stays plain: lexing them takes 0.3 s."""

_CLASSES: dict[Role, str] = {
    "": "",
    "muted": "c",
    "string": "s",
    "number": "n",
    "keyword": "k",
    "name": "f",
    "added": "ins",
    "removed": "del",
    "heading": "",
}
"""Role -> class in the style sheet."""

_NUMBERED = re.compile(r" *(\d+)\t(.*)")


def text(words: str) -> str:
    """Words as HTML text: controls made visible, then escaped."""
    return escape(clean(words))


def lines(code: str, *, path: str = "", language: str = "") -> list[str]:
    """The lines of `code` in colour, by its file's path or its language's name; plain where neither is known."""
    return ["".join(map(_piece, pieces)) for pieces in coloured(code, path=path, language=language, most=LONGEST)]


def _piece(piece: tuple[Role, str]) -> str:
    kind, words = _CLASSES[piece[0]], text(piece[1])
    return f'<span class="{kind}">{words}</span>' if kind and words else words


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
        for line, code in zip(hunk.lines, shown, strict=True):
            sign = line[:1]
            number = old if sign == "-" else new
            old, new = old + (sign != "+"), new + (sign != "-")
            kind = {"+": "add", "-": "rem"}.get(sign, "")
            yield f"<i>{number}</i><b>{text(sign)}</b>", kind, code
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
