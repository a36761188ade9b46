"""Find files by the pattern of their path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from codeagent.core.effects import Effect, Permit, Risk, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.globs import BadPattern, expand, is_literal, matcher
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Listing, Plain
from codeagent.host import files
from codeagent.host.ages import Ages
from codeagent.host.listing import Listed, Lister
from codeagent.host.workspace import Workspace
from codeagent.tools.inputs import FilePath, Input, Line, prompt
from codeagent.tools.places import Judge, judged, same_place, searched, shown_path, shown_within, standing

SHOWN = 100
"""Paths shown at most."""


class GlobInput(Input):
    """What to find, and where."""

    pattern: FilePath
    path: Line = "."
    include_ignored: bool = False


@dataclass(frozen=True, slots=True)
class _Search:
    """A folder to list, named from the `path` of the call, and the pattern for paths below it."""

    folder: str
    pattern: str


class Glob:
    """The `glob` tool."""

    name: ClassVar[str] = "glob"
    description: ClassVar[str] = prompt("glob")
    timeout: ClassVar[float] = 30
    Input: ClassVar[type[GlobInput]] = GlobInput

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._workspace = workspace
        self._judge = judge
        self._lister = Lister(workspace.root, workspace.env)

    async def plan(self, args: GlobInput) -> Effect:
        """The folders that are looked into: `path`, and where the pattern itself leads to."""
        search = _split(args)
        touches = [judged(self._judge, args.path, "read", "path")]
        inner = judged(self._judge, search.folder, "read", "pattern")
        if inner.place == "inside" or touches[0].place != "inside" or _leads_out(args.pattern):
            touches.append(inner)
        title = f"Find {args.pattern} in {searched(touches[0], self._workspace)}"
        label = args.pattern if args.path == "." else f"{args.pattern} in {shown_path(touches[0], self._workspace)}"
        return Effect(self.name, label, title, Risk.LOW, Plain(title), tuple(touches), cwd=str(self._workspace.cwd))

    async def run(self, args: GlobInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        touches = [same_place(self._judge, touch) for touch in permit.effect.touches]
        _, file = await asyncio.to_thread(standing, touches[0], self._workspace.root)
        if file:
            raise ToolFault(f"path: {touches[0].named} is a file, not a folder.", kind="not_a_directory")
        pattern = _split(args).pattern if len(touches) > 1 else args.pattern
        yield await self._found(args, pattern, touches[-1])

    async def _found(self, args: GlobInput, pattern: str, touch: Touch) -> Result:
        folder, name = Path(touch.path), shown_within(touch, self._workspace)
        rules = not args.include_ignored and not await self._lister.lifted(folder)
        if not await asyncio.to_thread(folder.is_dir):
            return _answer(args, [], 0, [])
        with Ages(folder, matcher(pattern)) as ages:
            if await asyncio.to_thread(_is_there, folder, pattern):
                listed = Listed([pattern])
            else:
                listed = await self._lister.files(folder, rules=rules, meanwhile=ages.meet)
            paths, total = await ages.newest(listed.paths, SHOWN)
        notes = [f"could not read, skipped: {', '.join(listed.troubles[:5])}"] if listed.troubles else []
        left_out = await self._lister.left_out(folder) if rules and total < SHOWN else []
        notes += await asyncio.to_thread(_hints, folder, pattern, listed.paths, left_out, paths)
        return _answer(args, [name(path) for path in paths], total, notes)


def _is_there(folder: Path, pattern: str) -> bool:
    """Whether the pattern is the plain name of something in the folder itself: then nothing need be listed."""
    return is_literal(pattern) and "/" not in pattern and files.exists(f"{folder}/{pattern}")


def _split(args: GlobInput) -> _Search:
    """Split the pattern where its first wildcard is, so that only that folder is listed."""
    try:
        alternatives = expand(args.pattern)
        for each in alternatives:
            matcher(each)
    except BadPattern as error:
        raise ToolFault(f"pattern: {error}.", kind="invalid_pattern") from error
    if len(alternatives) > 1:
        return _Search(args.path, args.pattern)
    segments = args.pattern.split("/")
    literal = 0
    while literal < len(segments) - 1 and is_literal(segments[literal]):
        literal += 1
    head = "/".join(segments[:literal]) + ("/" if literal else "")
    tail = "/".join(segment for segment in segments[literal:] if segment)
    if not head:
        return _Search(args.path, tail or "*")
    return _Search(head if head.startswith(("/", "~/")) else f"{args.path}/{head}", tail or "*")


def _leads_out(pattern: str) -> bool:
    """Whether the pattern says itself that it leaves the folder; else a link does, and links are not followed."""
    return pattern.startswith(("/", "~/")) or ".." in pattern.split("/")


def _hints(folder: Path, pattern: str, listed: list[str], left_out: list[str], found: list[str]) -> list[str]:
    """What a person would say of an answer that may surprise."""
    notes = []
    match = matcher(pattern)
    if ignored := sum(1 for path in set(left_out).difference(found) if match(path)):
        notes.append(f"{ignored:,} more ignored by .gitignore; include_ignored: true shows them")
    if not found and "/" not in pattern:
        deeper = matcher(f"**/{pattern}")
        if count := sum(1 for path in listed if deeper(path)):
            notes.append(f"none in this folder itself, but **/{pattern} finds {count:,}")
    if "[" in pattern and files.exists(f"{folder}/{pattern}"):
        notes.append(f"a file literally called {pattern} exists; write [[] for a literal bracket")
    return notes


def _answer(args: GlobInput, paths: list[str], total: int, notes: list[str]) -> Result:
    if not paths:
        notes = [f"No files match {args.pattern}.", *notes]
    elif total > len(paths):
        notes = [f"{total:,} files match, the {len(paths)} newest are shown; make the pattern narrower", *notes]
    text = "\n".join([*paths, *(["", *(f"[{note}]" for note in notes)] if paths and notes else notes)])
    summary = f"{total:,} file{'s' if total != 1 else ''}"
    return Result.of(text, summary=summary, view=Listing(tuple(paths), total - len(paths)))
