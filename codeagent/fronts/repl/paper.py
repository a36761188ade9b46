"""The paper that the plain front prints on: lines in order, in colour where that is wanted, nothing ever redrawn."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import TextIO

from msgspec import Struct

from codeagent.core.clean import clean

INKS = {
    "muted": "\x1b[2m",
    "accent": "\x1b[36m",
    "added": "\x1b[32m",
    "removed": "\x1b[31m",
    "warning": "\x1b[33m",
    "error": "\x1b[31m",
    "strong": "\x1b[1m",
}
"""Role -> escape sequence, from the sixteen colours that every theme of a terminal defines."""


class Terminal(Struct, frozen=True):
    """What the terminal can do. `live`: line editing and control sequences work. `colour`: and colour is wanted."""

    typed: bool = False
    live: bool = False
    colour: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, str], stdin: int = 0, stdout: int = 1) -> Terminal:
        """Look at the descriptors and the environment."""
        typed, shown = os.isatty(stdin), os.isatty(stdout)
        live = typed and shown and environ.get("TERM", "dumb") not in ("", "dumb")
        return cls(typed, live, live and not environ.get("NO_COLOR"))


class Paper:
    """Prints cleaned text to `stream`. On a terminal that is not `live`, not one escape byte is ever written."""

    def __init__(self, stream: TextIO, terminal: Terminal, width: int = 0) -> None:
        self._stream = stream
        self._terminal = terminal
        self._width = width
        self._blank = True

    @property
    def width(self) -> int:
        """Columns."""
        if self._width:
            return self._width
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):  # no terminal
            return 80

    def line(self, text: str = "", role: str = "text") -> None:
        """Print one or more lines of outside text in the ink of its role."""
        self._put(self._inked(clean(text), role) + "\n")
        self._blank = not text.strip()

    def gap(self) -> None:
        """A blank line, unless the last one was blank."""
        if not self._blank:
            self.line()

    def prompt(self, text: str) -> None:
        """Print without ending the line."""
        self._put(text)
        self._blank = False

    def entered(self, line: str | None) -> None:
        """A line was typed here. Given, it is printed: a pipe has no echo, and the paper shall read like a talk."""
        if line is not None:
            self.line(line)
        self._blank = False

    def markdown(self, source: str) -> None:
        """Print one closed block of Markdown; code stays as it is, so that it can be copied."""
        source = clean(source)
        if not self._terminal.live or source.lstrip().startswith(("```", "~~~")):
            self._put(source + "\n")
        else:
            self._put(_rendered(source, self.width, colour=self._terminal.colour))
        self._blank = False

    def copy(self, text: str) -> bool:
        """Put text on the terminal's clipboard; False where there is none."""
        if not self._terminal.live:
            return False
        self._put(f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\x07")
        return True

    def _inked(self, text: str, role: str) -> str:
        ink = INKS.get(role) if self._terminal.colour else None
        return "\n".join(f"{ink}{line}\x1b[0m" if line else "" for line in text.split("\n")) if ink else text

    def _put(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError:
            return  # the terminal is gone: SIGHUP ends the program, and the turn is put on record first


def _rendered(source: str, width: int, *, colour: bool) -> str:
    """Markdown laid out by rich, headings at the left, no trailing blanks, links with their target in words."""
    import io

    from rich import markdown
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.theme import Theme

    class Heading(markdown.Heading):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield self.text

    class Plain(markdown.Markdown):
        elements = markdown.Markdown.elements | {"heading_open": Heading}

    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        theme=Theme({"markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold", "markdown.h3": "bold"}),
    )
    console.print(Plain(source, hyperlinks=False))
    return "\n".join(line.rstrip() for line in page.getvalue().strip("\n").split("\n")) + "\n"
