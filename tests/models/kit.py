"""What the model tests share: a small request, and asking an adapter until it has answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeagent.core.events import AssistantSaid
from codeagent.core.messages import Message, Request, Text, ToolSchema
from codeagent.core.ports import Model

CASES = Path(__file__).parents[1] / "cases" / "wire"
READ = ToolSchema("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


def user(*texts: str) -> Message:
    return Message("user", tuple(Text(text) for text in texts))


def request(*messages: Message, **fields: Any) -> Request:
    """A request to the default model with one tool."""
    given = {"model": "claude-sonnet-5-5", "system": ("You help.",), "tools": (READ,), "max_tokens": 4096, **fields}
    return Request(messages=messages or (user("hello"),), **given)


async def heard(model: Model, asked: Request) -> list[Any]:
    """Everything that the model yields."""
    return [event async for event in model.stream(asked)]


async def answered(model: Model, asked: Request) -> AssistantSaid:
    """The reply, the last thing that the model yields."""
    last = (await heard(model, asked))[-1]
    assert isinstance(last, AssistantSaid)
    return last
