"""Create a file, or replace all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import ClassVar

from codeagent.core.effects import Effect, Permit, Touch
from codeagent.core.ports import Progress, Result
from codeagent.host.workspace import Workspace
from codeagent.tools.changing import Changing, Draft
from codeagent.tools.encodings import decode
from codeagent.tools.inputs import Content, FilePath, Input, prompt
from codeagent.tools.patching import unix
from codeagent.tools.places import Judge


class WriteInput(Input):
    """What to write."""

    file_path: FilePath
    content: Content


class Write:
    """The `write` tool."""

    name: ClassVar[str] = "write"
    description: ClassVar[str] = prompt("write")
    timeout: ClassVar[float] = 60
    Input: ClassVar[type[WriteInput]] = WriteInput

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._changing = Changing(workspace, judge)

    async def plan(self, args: WriteInput) -> Effect:
        return await self._changing.plan(self.name, args.file_path, partial(_draft, args.content))

    async def run(self, args: WriteInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        yield await self._changing.run(partial(_draft, args.content), permit)


def _draft(content: str, before: bytes | None, _touch: Touch) -> Draft:
    """The file keeps its encoding and byte order mark, and CRLF if all its lines end so."""
    old = decode(before) if before is not None else None
    if old is None:
        return Draft(content.encode(), "", content)
    if old.ends == "CRLF":
        content = unix(content).replace("\n", "\r\n")
    return Draft(old.encode(content), old.text, content, encode=old.encode)
