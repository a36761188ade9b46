"""Search the contents of files by regular expression."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from codeagent.core.effects import Effect, Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.globs import BadPattern, matcher
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Listing, Plain
from codeagent.host import files
from codeagent.host.filetypes import TYPES
from codeagent.host.listing import Lister
from codeagent.host.search import search
from codeagent.host.search_events import COUNTED, Found, Query, beside
from codeagent.host.search_events import Line as FoundLine
from codeagent.host.workspace import Workspace
from codeagent.tools.inputs import Input, Line, Natural, prompt
from codeagent.tools.places import Judge, judged, same_place, searched, shown_path, shown_within, standing

CONTENT = 50
FILES = 250
MOST = 20_000
"""Matching lines or files that are kept where no limit is wanted; CHARACTERS ends them sooner."""
CHARACTERS = 50_000
"""Characters of one result, about 15,000 tokens."""
SEEN = 50
"""Files shown that count as seen, at most: each is hashed."""


class GrepInput(Input):
    """What to look for, and where."""

    pattern: Line
    path: Line = "."
    glob: Annotated[Line, Field(description="Such as *.py")] = ""
    type: Annotated[Line, Field(description="Such as py, js, rust")] = ""
    output_mode: Literal["files", "content", "count"] = "files"
    before: Natural = 0
    after: Natural = 0
    context: Natural = 0
    case_insensitive: bool = False
    literal: bool = False
    word: bool = False
    multiline: Annotated[bool, Field(description="The pattern may span lines")] = False
    pcre: Annotated[bool, Field(description="Look-around, backreferences")] = False
    include_ignored: bool = False
    head_limit: Annotated[Natural, Field(description="0: all")] = -1
    offset: Natural = 0

    @property
    def limit(self) -> int:
        """Matching lines or files shown at most."""
        usual = CONTENT if self.output_mode == "content" else FILES
        return {-1: usual, 0: MOST}.get(self.head_limit, min(self.head_limit, MOST))


class Grep:
    """The `grep` tool."""

    name: ClassVar[str] = "grep"
    description: ClassVar[str] = prompt("grep")
    timeout: ClassVar[float] = 60
    Input: ClassVar[type[GrepInput]] = GrepInput

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._workspace = workspace
        self._judge = judge
        self._lister = Lister(workspace.root, workspace.env)

    async def plan(self, args: GrepInput) -> Effect:
        touch = judged(self._judge, args.path, "read", "path")
        title = f"Search {searched(touch, self._workspace)} for {args.pattern}"
        label = args.pattern if args.path == "." else f"{args.pattern} in {shown_path(touch, self._workspace)}"
        return Effect(self.name, label, title, Risk.LOW, Plain(title), (touch,), cwd=str(self._workspace.cwd))

    async def run(self, args: GrepInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        touch = same_place(self._judge, permit.effect.touches[0])
        folder, file = await asyncio.to_thread(standing, touch, self._workspace.root)
        query = await self._query(args, folder, file)
        found = await search(query, folder, file, self._lister)
        name = shown_within(touch, self._workspace, file)
        saw = await asyncio.to_thread(_seen, found, folder) if args.output_mode == "content" else ()
        yield _answer(args, found, name, saw)

    async def _query(self, args: GrepInput, folder: Path, file: str) -> Query:
        content = args.output_mode == "content"
        return Query(
            args.pattern,
            literal=args.literal,
            ignore_case=args.case_insensitive,
            word=args.word,
            multiline=args.multiline,
            pcre=args.pcre,
            before=args.before or args.context,
            after=args.after or args.context,
            rules=not args.include_ignored and not await self._lister.lifted(folder),
            wanted=(lambda _: True) if file else _wanted(args),
            names_only=args.output_mode == "files",
            skip=args.offset if content else 0,
            keep=args.limit if content else 0,
        )


def _wanted(args: GrepInput) -> Callable[[str], bool]:
    """The filters of `glob` and `type` as one function of a relative path."""
    tests: list[Callable[[str], bool]] = []
    if args.glob:
        bare = args.glob.removeprefix("!")
        by_name = "/" not in bare
        try:
            match = matcher(bare.removeprefix("/"))
        except BadPattern as error:
            raise ToolFault(f"glob: {error}.", kind="invalid_argument") from error
        unwanted = bare != args.glob
        tests.append(lambda path: bool(match(path.rpartition("/")[2] if by_name else path)) != unwanted)
    if args.type:
        if args.type not in TYPES:
            raise ToolFault(f"type: {args.type!r} is not known. Known: {', '.join(TYPES)}.", kind="invalid_type")
        named = matcher(TYPES[args.type])
        tests.append(lambda path: bool(named(path.rpartition("/")[2])))
    return lambda path: all(test(path) for test in tests)


def _answer(args: GrepInput, found: Found, name: Callable[[str], str], saw: tuple[Saw, ...]) -> Result:
    """The result in words: what was found, how much of it is shown, and what was not looked at."""
    lines: list[str] = []
    notes: list[str] = []
    if args.output_mode == "content":
        kept = list(beside(found.lines, args.before or args.context, args.after or args.context))
        lines, shown = _bounded(_by_file(kept, name))
        notes += _more(shown, found.total, args.offset, f"matching line{'s' * (found.total != 1)} in {_files(found)}")
    else:
        paths = list(found.counts)[args.offset : args.offset + args.limit]
        counted = args.output_mode == "count"
        every = [name(path) + (f":{found.counts[path]}" if counted else "") for path in paths]
        lines, shown = _bounded((line, 1) for line in every)
        total = f", {found.total:,} matching lines" if counted else ""
        notes += _more(
            shown, len(found.counts), args.offset, f"file{'s' * (len(found.counts) != 1)} with matches{total}"
        )
    if not found.counts:
        notes = [_nothing(args)]
    if found.endless and args.output_mode != "files":
        notes.append(f"only the first {COUNTED:,} matching lines are counted of {_some(found.endless, name)}")
    if found.binary:
        notes.append(f"binary, matches not shown: {_some(found.binary, name)}")
    if found.skipped:
        notes.append(f"too big to be searched without ripgrep: {_some(found.skipped, name)}")
    text = "\n".join([*lines, *(["", *(f"[{note}]" for note in notes)] if lines else notes)])
    many = found.total if args.output_mode == "content" else len(found.counts)
    unit = "match" if args.output_mode == "content" else "file"
    plural = "es" if unit == "match" else "s"
    view = Listing(tuple(lines), max(0, many - args.offset - shown))
    return Result.of(text, summary=f"{many:,} {unit}{plural if many != 1 else ''}", view=view, saw=saw)


def _by_file(lines: list[FoundLine], name: Callable[[str], str]) -> Iterator[tuple[str, int]]:
    """A heading for each file, `number:text` for hits, `number-text` beside them; and how many hits each line is."""
    for at, (path, group) in enumerate(groupby(lines, key=lambda line: line.path)):
        yield ("\n" if at else "") + name(path), 0
        last = 0
        for line in group:
            if last and line.number > last + 1 and not line.hit:
                yield "--", 0
            last = line.number
            yield f"{line.number}{':' if line.hit else '-'}{line.text}", int(line.hit)


def _bounded(lines: Iterable[tuple[str, int]]) -> tuple[list[str], int]:
    """Lines up to the bound of one result, and the hits in them."""
    kept: list[str] = []
    size = hits = 0
    for line, hit in lines:
        size += len(line) + 1
        if size > CHARACTERS:
            break
        kept.append(line)
        hits += hit
    return kept, hits


def _more(shown: int, total: int, offset: int, what: str) -> list[str]:
    if offset + shown >= total:
        return [f"{total:,} {what}" + (f"; from offset {offset} on" if offset else "")]
    return [f"{total:,} {what}; {shown:,} shown, {total - offset - shown:,} more: go on with offset {offset + shown}"]


def _files(found: Found) -> str:
    return f"{len(found.counts):,} file{'s' if len(found.counts) != 1 else ''}"


def _nothing(args: GrepInput) -> str:
    filters = [f"{field} {value}" for field, value in (("glob", args.glob), ("type", args.type)) if value]
    where = f" in files of {' and '.join(filters)}" if filters else ""
    rules = "" if args.include_ignored else " Ignored files were not searched; include_ignored: true searches them."
    return f"No matches{where}.{rules}"


def _some(paths: list[str], name: Callable[[str], str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(name(path) for path in paths[:5]) + more


def _seen(found: Found, folder: Path) -> tuple[Saw, ...]:
    """Files of which lines were shown may be edited: the model knows the place and the bytes are known."""
    paths = list(dict.fromkeys(line.path for line in found.lines))[:SEEN]
    return tuple(saw for path in paths if (saw := _saw(folder / path)))


def _saw(path: Path) -> Saw | None:
    try:
        real = files.real(path)
        real.encode()
        return Saw(real, files.digest(files.load(real)), first=1, last=0, whole=False)
    except (ToolFault, OSError, UnicodeEncodeError):
        return None
