"""Blocks become strips: rows of styled cells that the transcript only has to copy.

A row is a gutter of three cells and the column of reading, at most `MEASURE` cells wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from codeagent.core.clean import clean
from codeagent.core.views import Diff, Listing, Plain, Shell, Todo, View
from codeagent.fronts import present
from codeagent.fronts.tui.palette import ASCII, TO_ASCII, Glyphs, Palette
from codeagent.fronts.tui.pieces import Block, Call
from codeagent.fronts.tui.splitter import split

if TYPE_CHECKING:
    from rich.console import RenderableType

MEASURE = 100
"""Widest column of reading, in cells; diffs may use more."""
LEFT = 3
PEEK = 8
"""Rows of a failed call's output that are shown unasked."""
PEEK_DIFF = 24
PEEK_SAID = 12
LOOKED_AT = 20_000
"""Characters of a folded message that are laid out; 3 MB of them would take seven seconds."""
LIVE = 3
"""Rows of output shown under a call while it runs."""
NAME = 6
"""Cells that a tool's name takes at least, so that objects stand under each other."""

_TIMED = re.compile(r"\d (ms|s|min)\b")
"""A summary that says itself how long it took."""


class Painter:
    """Draws blocks for one width in one palette. `draw` is a function of the block alone."""

    def __init__(self, palette: Palette, glyphs: Glyphs, width: int) -> None:
        self.palette = palette
        self.glyphs = glyphs
        self.width = max(20, width)
        self.measure = min(MEASURE, self.width - 1)
        self._styles: dict[str, Style] = {}
        self._console: Console | None = None

    def draw(self, block: Block) -> list[Strip]:
        """All rows of a block, the blank one before it included."""
        rows = list(self._rows(block))
        return [Strip([], 0), *rows] if block.gap else rows

    def plain(self, text: str, role: str = "text", width: int = 0, gutter: str = "") -> list[Strip]:
        """Text that is no Markdown, wrapped; `gutter` is written before each row."""
        room = (width or self.measure) - len(gutter)
        strips = []
        for line in text.split("\n"):
            if cell_len(line) <= room and line.isprintable():  # 15 times as fast, and most lines are short
                strips.append(
                    self.strip(Text(line.rstrip(), style=getattr(self.palette, role, self.palette.text)), gutter)
                )
                continue
            rich_line = Text(line, style=getattr(self.palette, role, self.palette.text))
            rich_line.expand_tabs(4)
            for piece in rich_line.wrap(self.console, max(4, room)):
                piece.rstrip()
                strips.append(self.strip(piece, gutter))
        return strips

    def strip(self, text: Text, gutter: str = "") -> Strip:
        """One row."""
        before = [Segment(gutter, self.style("muted"))] if gutter else []
        if not text.spans:  # Rich leaves the base style out of a text without spans
            return Strip([*before, Segment(text.plain, self.console.get_style(text.style, default=""))])
        return Strip([*before, *(s for s in text.render(self.console) if s.text != "\n")])

    def style(self, role: str) -> Style:
        """A role as a style; a second word (`muted bold`) adds an attribute."""
        if role not in self._styles:
            name, *more = role.split()
            self._styles[role] = Style.parse(" ".join((*more, getattr(self.palette, name))))
        return self._styles[role]

    @property
    def console(self) -> Console:
        """Rich's layout engine, writing to nothing and blind to the environment."""
        if self._console is None:
            self._console = Console(
                file=StringIO(),
                width=self.width,
                force_terminal=True,
                color_system="truecolor",
                legacy_windows=False,
                highlight=False,
                _environ={},
            )
        return self._console

    # -- kinds ---------------------------------------------------------------------------------

    def _rows(self, block: Block) -> Iterable[Strip]:
        match block.kind:
            case "said":
                return self._said(block)
            case "words":
                return self._words(block)
            case "thinking":
                return self._thinking(block)
            case "notice":
                return self._notice(block)
            case "call" if block.call:
                return [self._headline(block, block.call), *self._below(block, block.call)]
        return []

    def _said(self, block: Block) -> list[Strip]:
        room = self.measure - LEFT
        text = block.text if block.fold == "open" else block.text[:LOOKED_AT]
        rows = self.plain(text, "accent", room)
        shown = rows if block.fold == "open" or len(rows) <= PEEK_SAID + 1 else rows[:PEEK_SAID]
        mark = f" {self.glyphs.you} "
        drawn = [self._set_in(row, mark if i == 0 else "   ", "accent bold") for i, row in enumerate(shown)]
        hidden = len(rows) - len(shown)
        if rest := block.text[len(text) :]:  # rows that nobody sees are counted by their length
            hidden += sum(1 + len(line) // room for line in rest.split("\n"))
        return [*drawn, self._more(hidden, "   ")] if hidden else drawn

    def _words(self, block: Block) -> list[Strip]:
        if block.live and block.code:
            return self._open_code(block.text)
        rows: list[Strip] = []
        for part in [block.text] if block.whole or block.live else split(block.text):
            if rows:
                rows.append(Strip([], 0))
            rows.extend(self._markdown(part))
        return rows

    def _open_code(self, text: str) -> list[Strip]:
        """A fence that still grows: plain, in the very rows that its coloured form will have."""
        from codeagent.fronts.tui.markdown import code_lines

        code = text.partition("\n")[2]
        room = self.measure - LEFT
        return [self.strip(row, " " * LEFT) for row in code_lines(code, room, self.palette, "")]

    def _markdown(self, text: str) -> list[Strip]:
        from codeagent.fronts.tui import markdown

        with self.console.use_theme(markdown.theme(self.palette)):
            return self._rendered(markdown.render(text, self.palette))

    def _rendered(self, renderable: RenderableType) -> list[Strip]:
        options = self.console.options.update(width=self.measure - LEFT)
        base = self.style("text")
        lines = self.console.render_lines(renderable, options, style=base, pad=False)
        if self.glyphs is ASCII:
            lines = [[Segment(s.text.translate(TO_ASCII), s.style) for s in line] for line in lines]
        rows = [Strip([Segment(" " * LEFT), *line]) for line in lines]
        while rows and not rows[-1].text.strip():
            rows.pop()
        while rows and not rows[0].text.strip():
            rows.pop(0)
        return rows

    def _thinking(self, block: Block) -> list[Strip]:
        mark = self.glyphs.unfolded if block.fold == "open" else self.glyphs.folded
        what = "thinking" if block.live else "thought"
        head = Text(f" {mark} {what}", self.palette.muted)
        if block.fold != "open":
            first = block.text.lstrip().partition("\n")[0][: self.measure]
            head.append(f"  {first}", f"italic {self.palette.muted}")
            head.truncate(self.measure, overflow="ellipsis")
            return [self.strip(head)]
        rows = self.plain(block.text.strip(), "muted", self.measure - LEFT)
        return [self.strip(head), *(self._set_in(row, "   ", "muted") for row in rows)]

    def _notice(self, block: Block) -> list[Strip]:
        marks = {
            "warning": ("!", "warning"),
            "error": (self.glyphs.failed, "danger"),
            "command": (self.glyphs.you, "accent"),
        }
        mark, role = marks.get(block.level, (" ", "muted"))
        rows = self.plain(block.text, role, self.measure - LEFT)
        return [self._set_in(row, f" {mark} " if i == 0 else "   ", role) for i, row in enumerate(rows)]

    # -- calls ---------------------------------------------------------------------------------

    def _headline(self, block: Block, call: Call) -> Strip:
        """Mark, verb, object, and the outcome at the right edge; the object gives way when it is narrow."""
        p = self.palette
        mark = self.glyphs.folded if block.fold == "closed" else self.glyphs.unfolded
        outcome = self._outcome(call)
        outcome.truncate(max(10, self.measure * 2 // 3), overflow="ellipsis")
        row = Text(f" {mark} ", p.muted)
        row.append(f"{call.name:<{NAME}} ", f"bold {p.text}")
        label = Text(call.label, p.text)
        room = self.measure - row.cell_len - outcome.cell_len - 2
        label.truncate(max(4, room), overflow="ellipsis", pad=True)
        row.append_text(label)
        row.append("  ")
        row.append_text(outcome)
        row.truncate(self.width)
        return self.strip(row)

    def _outcome(self, call: Call) -> Text:
        p, g = self.palette, self.glyphs
        if call.state == "writing":
            return Text(f"{g.more} {present.short(call.received)}", p.muted)
        if call.state != "finished":
            return Text(g.more, p.muted)
        told = call.took_ms < 300 or _TIMED.search(call.summary)
        took = "" if told else f"  {present.seconds(call.took_ms)}"
        match call.outcome:
            case "done":
                return self._changed(call, took) or Text(f"{self._news(call) or g.done}{took}", p.muted)
            case "refused":
                words = call.summary or "not allowed"
                if call.decided and call.decided.by == "dialog":
                    said = f"{call.decided.who or 'you'} said no"
                    words = f"{said}: {call.decided.words}" if call.decided.words else said
                return Text(f"{g.failed} {clean(words)}", p.warning)
            case "interrupted" | "skipped" | present.NOT_RUN | present.OUTCOME_UNKNOWN as outcome:
                return Text(f"{g.failed} {outcome}", p.warning)
            case "timeout":
                return Text(f"{g.failed} {call.summary or 'took too long'}{took}", p.danger)
        return Text(f"{g.failed} {call.summary or 'failed'}", p.danger).append(took, p.muted)

    def _news(self, call: Call) -> str:
        """The summary, unless the line says it already."""
        return "" if call.summary == call.label else call.summary

    def _changed(self, call: Call, took: str) -> Text | None:
        view = call.view
        if not isinstance(view, Diff):
            return None
        text = Text("new file  " if view.created else "", self.palette.muted)
        text.append(f"+{view.added}", self.palette.added)
        if not view.created:
            text.append(f" -{view.removed}", self.palette.removed)
        if part := call.summary.partition(", ")[2]:
            text.append(f"  {part}", self.palette.warning)
        return text.append(took, self.palette.muted)

    def _below(self, block: Block, call: Call) -> list[Strip]:
        if call.state == "running" and block.fold == "closed":
            return self._quoted(call.output, LIVE) if call.output.strip() else []
        if block.fold == "closed":
            return []
        view = call.view
        if isinstance(view, Diff):
            return self._diff(view, block.fold == "peek")
        limit = PEEK if block.fold == "peek" else 0
        return self._quoted(self._content(call, view), limit)

    def _diff(self, view: Diff, peek: bool) -> list[Strip]:
        rows = self.diff(view, self.width - LEFT - 1)
        shown = rows[:PEEK_DIFF] if peek and len(rows) > PEEK_DIFF + 1 else rows
        drawn = [self._set_in(row, " " * LEFT, "muted") for row in shown]
        return [*drawn, self._more(len(rows) - len(shown), "   ")] if len(shown) < len(rows) else drawn

    def diff(self, view: Diff, width: int) -> list[Strip]:
        """A whole diff, without a gutter."""
        from codeagent.fronts.tui import diffs, diffs_beside

        drawn = diffs_beside if width >= diffs_beside.WIDE and not view.created else diffs
        return [self.strip(row) for row in drawn.rows(view, width, self.palette, self.glyphs)]

    def _content(self, call: Call, view: View | None) -> str:
        match view:
            case Shell(command=command, output=output):
                output = output or (call.output if call.state != "finished" else "")
                return f"$ {command}\n{output}" if "\n" in command or len(command) > self.measure // 2 else output
            case Listing(lines=lines, omitted=omitted):
                return "\n".join(lines) + (f"\n{self.glyphs.more} {omitted:,} more" if omitted else "")
            case Plain(text=text):
                return text
            case Todo(items=items):
                return "\n".join(f"{self.todo_mark(i.status)} {i.text}" for i in items)
        return call.output

    def todo_mark(self, status: str) -> str:
        """The mark of a thing to do."""
        return {"completed": self.glyphs.done, "in_progress": self.glyphs.current}.get(status, self.glyphs.pending)

    def _quoted(self, text: str, limit: int) -> list[Strip]:
        """Output behind a bar; with a limit its last rows, and how many came before."""
        text = clean(text).strip("\n")
        bar = f"   {self.glyphs.bar} "
        if not text:
            return self.plain("nothing was printed", "muted", self.measure, bar) if limit == 0 else []
        lines = text.split("\n")
        kept = lines[-(limit + 1) :] if limit else lines
        rows = [row for line in kept for row in self.plain(line, "muted", self.measure, bar)]
        hidden = len(lines) - len(kept)
        if limit and len(rows) > limit:
            hidden += 1
            rows = rows[-limit:]
        return [self._more(hidden, bar), *rows] if hidden else rows

    def _more(self, hidden: int, gutter: str) -> Strip:
        text = Text(f"{self.glyphs.more} {present.count(hidden, 'more line')}", self.palette.muted)
        text.truncate(self.width - len(gutter))
        return self.strip(text, gutter)

    def _set_in(self, row: Strip, gutter: str, role: str) -> Strip:
        return Strip([Segment(gutter, self.style(role)), *row])
