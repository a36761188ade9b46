"""The model's Markdown in our look: quiet headings, code without boxes, links that show where they lead."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from codeagent.fronts.tui.code import highlight

if TYPE_CHECKING:
    from codeagent.fronts.tui.palette import Palette

INDENT = 2
"""Cells that code is set in."""


def styles(palette: Palette) -> dict[str, str]:
    """Rich's Markdown style names in our roles."""
    return {
        "markdown.paragraph": palette.text,
        "markdown.text": palette.text,
        "markdown.em": "italic",
        "markdown.strong": "bold",
        "markdown.code": palette.name_,
        "markdown.code_block": palette.text,
        "markdown.block_quote": palette.muted,
        "markdown.list": palette.text,
        "markdown.item": palette.text,
        "markdown.item.bullet": palette.muted,
        "markdown.item.number": palette.muted,
        "markdown.hr": palette.line,
        "markdown.h1": f"bold underline {palette.text}",
        "markdown.h2": f"bold {palette.text}",
        "markdown.h3": f"bold {palette.text}",
        "markdown.h4": f"bold {palette.muted}",
        "markdown.h5": f"bold {palette.muted}",
        "markdown.h6": f"{palette.muted}",
        "markdown.h7": f"{palette.muted}",
        "markdown.link": palette.accent,
        "markdown.link_url": palette.accent,
        "markdown.s": "strike",
        "markdown.table.border": palette.line,
        "markdown.table.header": f"bold {palette.text}",
    }


def code_lines(code: str, width: int, palette: Palette, language: str) -> list[Text]:
    """A code block's rows: set in, coloured, long lines broken at the edge (nothing is cut off)."""
    rows: list[Text] = []
    room = max(8, width - INDENT)
    for line in highlight(code, palette, language=language):
        line.expand_tabs(4)
        pieces = line.divide(range(room, len(line.plain), room)) if len(line.plain) > room else [line]
        for piece in pieces:
            row = Text(" " * INDENT, style=palette.text, end="")
            row.append_text(piece)
            rows.append(row)
    return rows


class _Code(CodeBlock):
    palette: Palette

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        language = self.lexer_name if self.lexer_name != "text" else ""
        for row in code_lines(code, options.max_width, self.palette, language):
            yield from row.render(console)
            yield Segment.line()


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Table(TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for drawn in super().__rich_console__(console, options):
            if isinstance(drawn, Table):
                drawn.box = box.SIMPLE_HEAD
                drawn.pad_edge = False
            yield drawn


class _Markdown(Markdown):
    """Rich's, with one parser for all: making one takes as long as a short text."""

    def __init__(self, text: str) -> None:
        self.markup = text
        self.parsed = _parser().parse(text)
        self.justify = None
        self.style = "none"
        self.hyperlinks = False  # nothing outside sets a terminal link: they are written out
        self.code_theme = self.inline_code_theme = "monokai"
        self.inline_code_lexer = None


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt().enable("strikethrough").enable("table")


@lru_cache(maxsize=4)
def _kind(palette: Palette) -> type[_Markdown]:
    code = type("PaletteCode", (_Code,), {"palette": palette})
    own = {"fence": code, "code_block": code, "heading_open": _Heading, "table_open": _Table}
    return type("PaletteMarkdown", (_Markdown,), {"elements": Markdown.elements | own})


@lru_cache(maxsize=4)
def theme(palette: Palette) -> Theme:
    """The styles as Rich takes them."""
    return Theme(styles(palette))


def render(text: str, palette: Palette) -> Markdown:
    """A renderable of one or more Markdown blocks."""
    return _kind(palette)(text)
