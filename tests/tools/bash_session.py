"""A session's bash tool over a real workspace, for tests."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeagent.core.effects import Permit, Risk, ShellPart, ShellReading
from codeagent.core.messages import Text
from codeagent.core.ports import Progress, Result
from codeagent.host.clock import SystemClock
from codeagent.host.jobs import Jobs
from codeagent.host.sandbox import Sandbox
from codeagent.host.workspace import Workspace
from codeagent.tools.bash import Bash, BashInput


def read_simply(command: str, cwd: str) -> ShellReading:
    """Reads lines of plain words joined by `;` or `&&`; everything else is one part without words."""
    if any(char in command.replace("&&", "").strip() for char in "|<>$`\\()*?\n&"):
        return ShellReading((ShellPart(command, None, False, Risk.HIGH),), plain=True)
    try:
        pieces = [shlex.split(piece) for piece in command.replace("&&", ";").split(";")]
    except ValueError:
        return ShellReading((), plain=False, why="open quote")
    parts = (ShellPart(shlex.join(words), tuple(words), True, Risk.LOW) for words in pieces if words)
    return ShellReading(tuple(parts), plain=True)


class Session:
    """Runs calls one after the other and remembers, as the journal would, where the shell stands."""

    def __init__(
        self, root: Path, env: dict[str, str], extra: tuple[Path, ...] = (), sandbox: Sandbox | None = None
    ) -> None:
        self.root = root
        self.workspace = Workspace(root, root.parent, root.parent / "spill", env, extra)
        self.jobs = Jobs(f"test-{root.parent.name}", SystemClock(), sandbox)
        self.bash = Bash(self.workspace, read_simply, self.jobs)
        self.progress: list[tuple[float, str]] = []

    async def run(self, command: str = "", **fields: Any) -> Result:
        """One call: plan, permit, run. Returns its result."""
        args = BashInput(command=command, **fields)
        effect = await self.bash.plan(args)
        async for said in self.bash.run(args, Permit(effect)):
            if isinstance(said, Progress):
                self.progress.append((time.monotonic(), said.text))
            else:
                result = said
        if result.cwd:
            self.workspace.seen.cwd = result.cwd
        return result


def text_of(result: Result) -> str:
    """What the model gets."""
    (block,) = result.blocks
    assert isinstance(block, Text)
    return block.text


def running(words: str) -> list[str]:
    """Live processes with this command line."""
    listing = subprocess.run(["ps", "-axww", "-o", "stat=,command="], capture_output=True, text=True, check=True)
    lines = [line for line in listing.stdout.splitlines() if not line.startswith("Z")]
    return [line for line in lines if line.split(None, 1)[1] == words]


async def until(state: Callable[[], object], seconds: float = 10) -> None:
    """Wait for a state to become true."""
    async with asyncio.timeout(seconds):
        while not state():
            await asyncio.sleep(0.01)


def prompt_bytes(tool: Any) -> int:
    """What a tool adds to every request: its schema without titles, its name and description."""

    def bare(node: Any) -> Any:
        if isinstance(node, dict):
            return {k: bare(v) for k, v in node.items() if not (k == "title" and isinstance(v, str))}
        return [bare(each) for each in node] if isinstance(node, list) else node

    schema = bare(tool.Input.model_json_schema())
    whole = {"name": tool.name, "description": tool.description, "input_schema": schema}
    return len(json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode())
