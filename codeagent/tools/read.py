"""Read a file: numbered lines, a picture, a PDF, or a notebook's cells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from codeagent.core.effects import Effect, Permit, Risk, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.messages import Text
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Plain
from codeagent.host import files
from codeagent.host.workspace import Workspace
from codeagent.tools import media, notebook
from codeagent.tools.encodings import Decoded, decode
from codeagent.tools.inputs import FilePath, Input, Positive, prompt
from codeagent.tools.places import Judge, judged, missing, same_place, shown_path

LINES = 2000
"""Lines shown without a `limit`."""
WIDTH = 2000
"""Characters shown of one line."""
CHARACTERS = 50_000
"""Characters of one result, about 15,000 tokens."""
STREAMED = 8 << 20
"""Bytes from which a file is streamed as UTF-8: decoding and splitting more would hold up the screen."""


class ReadInput(Input):
    """What to read."""

    file_path: FilePath
    offset: Annotated[Positive, Field(description="First line")] = 1
    limit: Annotated[Positive, Field(description="Number of lines")] = LINES


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a text file from line `first` on; `total` is 0 when the file is too long to be counted."""

    lines: Sequence[str]
    first: int
    total: int
    digest: str
    notes: tuple[str, ...] = ()
    kind: str = "line"


class Read:
    """The `read` tool."""

    name: ClassVar[str] = "read"
    description: ClassVar[str] = prompt("read")
    timeout: ClassVar[float] = 30
    Input: ClassVar[type[ReadInput]] = ReadInput

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._workspace = workspace
        self._judge = judge

    async def plan(self, args: ReadInput) -> Effect:
        """Only the path is judged; whether the file can be read shows when it may be."""
        touch = judged(self._judge, args.file_path, "read")
        label = shown_path(touch, self._workspace)
        return Effect(self.name, label, f"Read {label}", Risk.LOW, Plain(label), (touch,), cwd=str(self._workspace.cwd))

    async def run(self, args: ReadInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        touch = same_place(self._judge, permit.effect.touches[0])
        yield await asyncio.to_thread(self._read, args, touch)

    def _read(self, args: ReadInput, touch: Touch) -> Result:
        label = shown_path(touch, self._workspace)
        try:
            size = files.size_of(touch.path)
            if size > STREAMED:
                return self._shown(_streamed(touch.path, args), args, touch.path)
            data = files.load(touch.path, STREAMED)
        except ToolFault as fault:
            raise self._better(fault, touch) from fault
        if not data:
            return Result.of(
                f"{label} is empty (0 bytes).", summary="empty", saw=(Saw(touch.path, files.digest(data), 1, 0),)
            )
        if kind := media.media_type(data):
            return Result((Text(f"{label} ({kind})"), media.block(data, kind, Path(label).name)), summary=kind)
        decoded = decode(data)
        if decoded is None:
            raise ToolFault(
                f"{label} is a binary file of {len(data):,} bytes and cannot be shown as text.",
                summary="binary",
                kind="binary",
            )
        return self._shown(_page(touch.path, decoded, files.digest(data), args), args, touch.path)

    def _better(self, fault: ToolFault, touch: Touch) -> ToolFault:
        """The fault with the name that the model used, and with near names where the file is missing."""
        if fault.kind != "no_file":
            return ToolFault(f"file_path: {fault}", summary=fault.summary, kind=fault.kind)
        files.refuse_special(str(self._workspace.cwd / touch.named))
        return missing(touch, self._workspace.root)

    def _shown(self, page: Page, args: ReadInput, path: str) -> Result:
        if not page.lines:
            there = f"it has {page.total:,} {page.kind}s" if page.total else "its end was not reached"
            raise ToolFault(f"offset: {args.offset:,} is past the end of the file; {there}.", kind="past_end")
        lines: list[str] = []
        size = 0
        for number, line in enumerate(page.lines, page.first):
            text = f"{number}\t{_cut(line)}"
            size += len(text) + 1
            if size > CHARACTERS and lines:
                break
            lines.append(text)
        last = page.first + len(lines) - 1
        if page.digest and self._workspace.seen.shown(path, page.digest, page.first, last):
            return Result.of(
                f"Unchanged since you read these lines ({page.first}-{last}); they are above in the conversation.",
                summary="unchanged",
                saw=(),
            )
        notes = [*page.notes, *_left_out(page, last)]
        whole = page.first == 1 and last == page.total and not any(len(line) > WIDTH for line in page.lines)
        text = "\n".join(lines) + ("\n\n" + "\n".join(f"[{note}]" for note in notes) if notes else "")
        saw = (Saw(path, page.digest, page.first, last, whole),) if page.digest else ()
        count = len(lines)
        of = f" of {page.total:,}" if page.total > count else ""
        return Result.of(text, summary=f"{count:,}{of} line{'s' if count != 1 or of else ''}", saw=saw)


def _page(path: str, decoded: Decoded, digest: str, args: ReadInput) -> Page:
    text, notes = decoded.text, []
    if decoded.label:
        notes.append(f"encoding: {decoded.label}")
    if decoded.ends in ("CRLF", "mixed"):
        notes.append("line ends: CRLF" if decoded.ends == "CRLF" else "line ends: CRLF and LF mixed")
    if path.endswith(".ipynb") and (cells := notebook.as_text(text)) is not None:
        text = cells
        notes.append("a notebook, shown as cells; edit changes its JSON source")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    wanted = [_printable(line) for line in lines[args.offset - 1 : args.offset - 1 + args.limit]]
    return Page(wanted, args.offset, len(lines), digest, tuple(notes))


def _streamed(path: str, args: ReadInput) -> Page:
    found = files.window(path, args.offset, min(args.limit, LINES * 10), 4 * WIDTH + 4)
    if b"\0" in found.head:
        raise ToolFault("This is a big binary file and cannot be shown as text.", summary="binary", kind="binary")
    if not found.lines and not found.total:
        raise ToolFault(
            f"Line {args.offset:,} lies beyond the first {files.SCANNED:,} bytes. Use a smaller offset with a limit, "
            "or look with bash (tail, sed -n).",
            kind="too_large",
        )
    lines = [_printable(line.decode("utf-8", "replace")) for line in found.lines]
    return Page(lines, args.offset, found.total, found.digest)


def _printable(line: str) -> str:
    """Without the CR of CRLF; bytes that are no character show as U+FFFD, for a request has to be valid text."""
    return line.removesuffix("\r").encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _cut(line: str) -> str:
    over = len(line) - WIDTH
    return line if over <= 0 else f"{line[:WIDTH]}… [line cut: {over:,} more characters]"


def _left_out(page: Page, last: int) -> list[str]:
    if page.total and last >= page.total:
        return []
    total = f"of {page.total:,}" if page.total else "of very many"
    return [f"lines {page.first:,}-{last:,} {total}; go on with offset {last + 1} and a limit"]
