"""Plain tools on real files and processes, with the names and answers that a recording meets in a session."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from codeagent.core.effects import Effect, Permit, Risk, ShellPart, ShellReading, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Plain, Todo, TodoItem, View


class _AtWork:
    """What they share: the project's root, and text effects."""

    description: ClassVar[str] = ""
    timeout: ClassVar[float] = 30.0

    def __init__(self, root: Path) -> None:
        self.root = root

    def effect(self, tool: str, label: str, risk: Risk, view: View | None = None, **more: Any) -> Effect:
        return Effect(tool, label, f"{tool.capitalize()} {label}", risk, view or Plain(label), **more)


class Read(_AtWork):
    name: ClassVar[str] = "read"

    class Input(BaseModel):
        file_path: str
        limit: int = 2000

    async def plan(self, args: Input) -> Effect:
        path = self.root / args.file_path
        if not path.is_file():
            raise ToolFault(f"There is no {args.file_path}.")
        return self.effect("read", args.file_path, Risk.LOW, touches=(Touch(str(path), "read", "inside"),))

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        lines = (self.root / args.file_path).read_text(encoding="utf-8").splitlines()[: args.limit]
        yield Result.of("\n".join(f"{n}\t{line}" for n, line in enumerate(lines, start=1)))


class Grep(_AtWork):
    name: ClassVar[str] = "grep"

    class Input(BaseModel):
        pattern: str
        output_mode: str = "files"

    async def plan(self, args: Input) -> Effect:
        return self.effect("grep", args.pattern, Risk.LOW)

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        found = [
            f"{path.relative_to(self.root)}:{n}:{line}"
            for path in sorted(self.root.rglob("*.py"))
            for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
            if re.search(args.pattern, line)
        ]
        yield Result.of("\n".join(found))


class Edit(_AtWork):
    name: ClassVar[str] = "edit"

    class Input(BaseModel):
        file_path: str
        old_string: str
        new_string: str

    async def plan(self, args: Input) -> Effect:
        path = self.root / args.file_path
        text = path.read_text(encoding="utf-8")
        if text.count(args.old_string) != 1:
            raise ToolFault(f"old_string is found {text.count(args.old_string)} times.")
        before = hashlib.sha256(text.encode()).hexdigest()
        touches = (Touch(str(path), "write", "inside"),)
        return self.effect("edit", args.file_path, Risk.MEDIUM, touches=touches, before=before)

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        path = self.root / args.file_path
        path.write_text(path.read_text(encoding="utf-8").replace(args.old_string, args.new_string), encoding="utf-8")
        yield Result.of(f"Edited {args.file_path}.")


class Bash(_AtWork):
    name: ClassVar[str] = "bash"

    class Input(BaseModel):
        command: str

    async def plan(self, args: Input) -> Effect:
        part = ShellPart(args.command, tuple(shlex.split(args.command)), readonly=False, risk=Risk.MEDIUM)
        return self.effect("bash", args.command, Risk.MEDIUM, shell=ShellReading((part,), plain=True))

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        process = await asyncio.create_subprocess_shell(
            args.command, cwd=self.root, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await process.communicate()
        yield Result.of(f"{output.decode()}\nexit code {process.returncode}", is_error=process.returncode != 0)


class TodoList(_AtWork):
    name: ClassVar[str] = "todo"

    class Input(BaseModel):
        todos: list[dict[str, str]]

    async def plan(self, args: Input) -> Effect:
        return self.effect("todo", "", Risk.LOW, free=True)

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        items = tuple(TodoItem(item["content"], item["status"]) for item in args.todos)  # type: ignore[arg-type]  # as written in the script
        yield Result.of("The list stands.", view=Todo(items))


def tools(root: Path) -> list[Any]:
    return [kind(root) for kind in (Read, Grep, Edit, Bash, TodoList)]
