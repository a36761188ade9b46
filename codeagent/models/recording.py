"""Writes down what a model says, as a script that says it again."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

from msgspec import to_builtins

from codeagent.core.errors import ModelError
from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Block, Request, Text, Thinking, ToolUse
from codeagent.core.ports import Model, ModelInfo
from codeagent.models.script_format import Part
from codeagent.models.script_reader import parse
from codeagent.models.speech import listening


class Recording:
    """Implements ports.Model: passes on what `inner` says, and appends each whole reply to the script at `path`.

    Only its owner may read the file. Failures and retries are passed on, not written. Raises
    ModelError of category `script` when the file cannot be written.
    """

    def __init__(self, inner: Model, path: Path) -> None:
        self._inner = inner
        self._path = path

    def info(self, model: str) -> ModelInfo:
        """What the inner model says of itself."""
        return self._inner.info(model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        """Pass on the inner stream; the reply is on disk before it is passed on."""
        async with listening(self._inner, request) as events:
            async for event in events:
                if isinstance(event, AssistantSaid):
                    self._append(write(event))
                yield event

    def _append(self, step: str) -> None:
        try:
            self._path.touch(mode=0o600)
            with self._path.open("a", encoding="utf-8", newline="") as file:
                file.write(step)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ModelError(f"The recording {self._path} cannot be written: {reason}.", category="script") from error


def write(said: AssistantSaid) -> str:
    """The step that says this reply again: blocks, call ids, stop, usage and cost are kept, times are not."""
    lines = ["---", *(_line(block) for block in said.blocks)]
    if said.detail or said.stop != ("tool_use" if said.uses else "end_turn"):
        lines.append(f"stop {said.stop} {said.detail}".rstrip())
    if said.cut:
        lines.append("cut " + " ".join(said.cut))
    lines.append("usage " + _json(to_builtins(said.usage) | {"cost": said.cost}))
    return "\n".join(lines) + "\n"


def _line(block: Block) -> str:
    """The readable form where reading it gives exactly this block, the block itself as JSON elsewhere."""
    readable = ""
    if isinstance(block, Text):
        readable = _words("say", block.text)
    elif isinstance(block, Thinking):
        readable = _words("think", block.text)
    elif isinstance(block, ToolUse):
        readable = f"call {block.name}#{block.id} {_json(block.input)}"
    return readable if readable and _reads_as(readable, block) else "block " + _json(to_builtins(block))


def _words(word: str, text: str) -> str:
    first, *more = text.split("\n")
    return "\n".join([f"{word} {first}", *(f"  {line}" if line else "" for line in more)])


def _reads_as(line: str, block: Block) -> bool:
    try:
        line.encode()
        steps = parse(line, "").steps
    except (ModelError, UnicodeEncodeError):
        return False
    return len(steps) == 1 and [part.block for part in steps[0].parts] == [block] and not _filled(steps[0].parts[0])


def _filled(part: Part) -> bool:
    """Whether something in it would be taken for a placeholder."""
    return "{{" in _json(to_builtins(part.block))


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
