"""Change a file by replacing text that is in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from codeagent.core.effects import Effect, Permit, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.ports import Progress, Result
from codeagent.host.workspace import Workspace
from codeagent.tools.changing import Changing, Draft
from codeagent.tools.encodings import decode
from codeagent.tools.inputs import Content, FilePath, Input, prompt
from codeagent.tools.nearest import explain_miss
from codeagent.tools.patching import Change, Missed, patch, unix
from codeagent.tools.places import Judge, missing, printable


class OneEdit(Input):
    """One replacement."""

    old_string: Content
    new_string: Content
    replace_all: bool = False


class EditInput(Input):
    """One replacement, or several in `edits`."""

    file_path: FilePath
    old_string: Content = ""
    new_string: Content = ""
    replace_all: bool = False
    edits: Annotated[list[OneEdit], Field(default_factory=list, description="Several, in order, all or none")]

    @model_validator(mode="after")
    def _one_way(self) -> EditInput:
        given = self.model_fields_set & {"old_string", "new_string"}
        if self.edits and (self.old_string or self.new_string):
            raise ValueError("send either old_string and new_string, or edits, not both")
        if not self.edits and len(given) < 2:
            lacking = " and ".join(sorted({"old_string", "new_string"} - given))
            raise ValueError(f"{lacking} missing; send old_string and new_string, or edits (a list of them)")
        return self

    @property
    def changes(self) -> list[Change]:
        """The replacements in order."""
        if not self.edits:
            return [Change(self.old_string, self.new_string, self.replace_all)]
        return [Change(each.old_string, each.new_string, each.replace_all) for each in self.edits]


class Edit:
    """The `edit` tool."""

    name: ClassVar[str] = "edit"
    description: ClassVar[str] = prompt("edit")
    timeout: ClassVar[float] = 60
    Input: ClassVar[type[EditInput]] = EditInput

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._workspace = workspace
        self._changing = Changing(workspace, judge)

    async def plan(self, args: EditInput) -> Effect:
        return await self._changing.plan(self.name, args.file_path, partial(self._draft, args.changes))

    async def run(self, args: EditInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        yield await self._changing.run(partial(self._draft, args.changes), permit)

    def _draft(self, changes: list[Change], before: bytes | None, touch: Touch) -> Draft:
        creates = not changes[0].old and len(changes) == 1
        if before is None:
            if not creates:
                fault = missing(touch, self._workspace.root)
                raise ToolFault(str(fault), summary=fault.summary, kind="no_file")
            return Draft(changes[0].new.encode(), "", changes[0].new)
        name = printable(touch.named)
        decoded = decode(before)
        if decoded is None:
            raise ToolFault(f"{name} is a binary file and cannot be edited as text.", summary="binary", kind="binary")
        if creates and not decoded.text:
            return Draft(decoded.encode(changes[0].new), "", changes[0].new)
        _check_not_empty(changes, name)
        try:
            done = patch(decoded.text, changes)
        except Missed as miss:
            raise _fault(miss, changes, name) from None
        after = decoded.encode(done.text)
        if after == before:
            raise ToolFault("new_string leaves the file as it is; there is nothing to change.", kind="no_change")
        return Draft(after, decoded.text, done.text, _words(done.rungs, done.hits, len(changes)), decoded.encode)


def _check_not_empty(changes: list[Change], name: str) -> None:
    for at, change in enumerate(changes):
        if not change.old:
            raise ToolFault(
                f"{_which(at, changes)}old_string is empty, but {name} exists and has text. Give the text to replace, "
                "or use write to replace all of it.",
                kind="exists",
            )


def _words(rungs: tuple[str, ...], hits: int, changes: int) -> str:
    words = f" {hits} places." if hits != changes else ""
    if rungs:
        words += f" old_string was not there exactly; it matched in one place apart from: {', '.join(rungs)}."
    return words


def _which(at: int, changes: list[Change]) -> str:
    return f"edit {at + 1} of {len(changes)}: " if len(changes) > 1 else ""


def _fault(miss: Missed, changes: list[Change], name: str) -> ToolFault:
    change = changes[miss.at]
    start = f"{_which(miss.at, changes)}"
    end = " Nothing was written." if len(changes) > 1 else ""
    if miss.kind == "no_change":
        return ToolFault(f"{start}new_string is the same as old_string.{end}", summary="no change", kind="no_change")
    if miss.kind == "not_unique":
        lines = ", ".join(str(line) for line in miss.lines[:20]) + (" ..." if len(miss.lines) > 20 else "")
        apart = f" (apart from {miss.rung})" if miss.rung else ""
        return ToolFault(
            f"{start}old_string is in {name} {len(miss.lines)} times{apart}, in lines {lines}. Give more of the "
            f"text around the one you mean, or set replace_all.{end}",
            summary=f"found {len(miss.lines)} times",
            kind="not_unique",
        )
    near = explain_miss(unix(miss.text), unix(change.old), unix(change.new))
    return ToolFault(f"{start}old_string is not in {name}.{end} {near}", summary="text not found", kind="not_found")
