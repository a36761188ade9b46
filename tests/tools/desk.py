"""A project on disk with the file tools at work in it, as the core would use them."""

from __future__ import annotations

import base64
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from codeagent.core.effects import Effect, Permit, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.messages import Text
from codeagent.core.ports import Result
from codeagent.host.workspace import Workspace
from codeagent.tools.edit import Edit
from codeagent.tools.glob import Glob
from codeagent.tools.grep import Grep
from codeagent.tools.inputs import explain
from codeagent.tools.read import Read
from codeagent.tools.write import Write

SLACK = 3
"""A machine that runs other things as well may take this many times longer; test_speed.py measures exactly."""

CASES = Path(__file__).parent.parent / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    """The rows of a case file such as `tools/edit`."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text().splitlines()]


@dataclass
class Outcome:
    """What came of a call: the result or the kind of the fault, and the text that the model gets."""

    text: str
    result: Result | None = None
    error: str = ""
    effect: Effect | None = None
    seconds: float = 0

    def says(self, groups: list[list[str]]) -> None:
        """Each group has a member in the text, whatever the case."""
        for group in groups:
            assert any(each.lower() in self.text.lower() for each in group), (group, self.text[:500])


@dataclass
class Desk:
    root: Path
    home: Path
    env: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    outside_allowed: bool = False

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.root = self.root.resolve()
        self.workspace = Workspace(self.root, self.home, self.home / "spill", self.env)
        self.tools = {tool.name: tool(self.workspace, self.judge) for tool in (Read, Write, Edit, Grep, Glob)}

    def judge(self, named: str, access: Literal["read", "write"]) -> Touch:
        """A plain stand-in for the judge of paths: resolved, inside the root or not."""
        text = str(self.home) + named[1:] if named == "~" or named.startswith("~/") else named
        path = Path(os.path.realpath(self.workspace.cwd / text))
        place = "inside" if self.outside_allowed or path.is_relative_to(self.root) else "outside"
        return Touch(str(path), access, place, named)

    async def call(self, name: str, **given: Any) -> Outcome:
        """One call through validation, plan, permit and run; an effect outside the project is refused."""
        tool = self.tools[name]
        began = time.monotonic()
        try:
            args = tool.Input.model_validate(given)
        except ValidationError as error:
            return Outcome(explain(error, name), error="invalid_argument")
        effect = None
        try:
            effect = await tool.plan(args)
            if any(touch.place != "inside" for touch in effect.touches):
                return Outcome("outside the project", error="outside", effect=effect)
            steps = [step async for step in tool.run(args, Permit(effect))]
        except ToolFault as fault:
            return Outcome(str(fault), error=fault.kind or "fault", effect=effect, seconds=time.monotonic() - began)
        result = steps[-1]
        assert isinstance(result, Result)
        for saw in result.saw:
            self.workspace.seen.note(saw)
        text = "\n".join(block.text for block in result.blocks if isinstance(block, Text))
        return Outcome(text, result, "", effect, time.monotonic() - began)

    def put(self, name: str, data: bytes | str) -> Path:
        """A file with its folders."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        return path


def content(case: dict[str, Any], key: str) -> bytes | None:
    """Bytes of a case: `key`, `key_b64` or `gen`."""
    if case.get(f"{key}_b64") is not None:
        return base64.b64decode(case[f"{key}_b64"])
    if case.get(key) is not None:
        return str(case[key]).encode()
    if case.get("gen"):
        return generated(case["gen"])
    return None


def generated(gen: dict[str, Any]) -> bytes:
    if "numbered_lines" in gen:
        return b"".join(b"line %d\n" % n for n in range(1, gen["numbered_lines"] + 1))
    if "notebook_image_bytes" in gen:
        picture = base64.b64encode(bytes(gen["notebook_image_bytes"])).decode()
        output = {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}
        cell = {"cell_type": "code", "source": ["plot()"], "outputs": [output], "metadata": {}, "execution_count": 1}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    return b"".join(
        base64.b64decode(part["b64"])
        if "b64" in part
        else (part.get("repeat") or part["text"]).encode() * part.get("times", 1)
        for part in gen["parts"]
    )
