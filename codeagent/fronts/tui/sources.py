"""The logical text behind what is drawn: what is searched and what is copied, without gutters and line breaks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codeagent.core.clean import clean
from codeagent.core.views import Diff, Listing, Plain, Shell, Todo
from codeagent.fronts import calls, present
from codeagent.fronts.tui.pieces import Block, Call

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)\n? {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_SEAM = 8
"""Characters on each side of a line's end by which its place in the source is found."""


class Piece(Struct, frozen=True):
    """Something worth copying: its kind, its first words, the text."""

    kind: str
    text: str

    @property
    def label(self) -> str:
        """One line of it, the first that says something: no ruler of dashes, where there is another."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return next((line for line in lines if any(map(str.isalnum, line))), lines[0] if lines else "")


def of(block: Block) -> str:
    """All of a block, folded or not."""
    if block.call is None:
        return block.text
    return "\n".join((f"{block.call.name} {block.call.label} {block.call.summary}", _inside(block.call)))


def _inside(call: Call) -> str:
    match call.view:
        case Diff() as diff:
            return "\n".join(text for _, text in calls.diff(diff))
        case Shell(command=command, output=output):
            return clean(f"{command}\n{output or call.output}")
        case Listing(lines=lines):
            return clean("\n".join(lines))
        case Plain(text=text):
            return clean(text)
        case Todo(items=items):
            return clean("\n".join(item.text for item in items))
    return clean(call.output)


def pieces(blocks: Sequence[Block]) -> Iterator[Piece]:
    """What can be copied, the newest first: whole answers, the code in them, commands, outputs, diffs."""
    end = len(blocks)
    while end > 0:
        block = blocks[end - 1]
        start = end - 1
        if block.kind == "words":
            while start > 0 and blocks[start - 1].kind == "words":
                start -= 1
            answer = "\n\n".join(each.text for each in blocks[start:end])
            yield Piece("answer", answer)
            yield from (Piece("code", match[2]) for match in _FENCE.finditer(answer))
        elif block.call is not None:
            yield from _of_call(block.call)
        elif block.kind == "said":
            yield Piece("message", block.text)
        end = start


def _of_call(call: Call) -> Iterator[Piece]:
    match call.view:
        case Shell(command=command, output=output):
            yield Piece("command", clean(command))
            if output.strip():
                yield Piece("output", clean(output))
        case Diff():
            yield Piece("diff", _inside(call))
        case _ if inside := _inside(call).strip():
            yield Piece("result", inside)


def unwrapped(rows: Sequence[str], source: str) -> str:
    """Rows as drawn, put together again where only the screen's width had parted them."""
    text = rows[0] if rows else ""
    for row in rows[1:]:
        before, after = text[-_SEAM:], row.lstrip()[:_SEAM]
        if not before.strip() or not after:
            text += f"\n{row}"
        elif f"{before} {after}" in source:
            text += f" {row.lstrip()}"
        elif before + after in source:
            text += row.lstrip()
        else:
            text += f"\n{row}"
    return text


def told(piece: Piece) -> str:
    """How much of what, for a person."""
    return f"{piece.kind}, {present.count(len(piece.text), 'character')}"
