"""A recorded request with something changed, to be sent once more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from codeagent.core.errors import UsageFault
from codeagent.core.messages import Block, Document, Image, Message, Opaque, Request, Text, Thinking, ToolSchema


def edited(
    request: Request,
    *,
    system: str | None = None,
    message: str | None = None,
    tools: Sequence[ToolSchema] | None = None,
) -> Request:
    """The same request with another system prompt, other words in its last message, or other tools; None: unchanged.

    Reasoning is left out of the history when what stood before it changes: its signature would no longer fit.
    """
    made = request
    if system is not None:
        made = replace(made, system=(system,))
    if tools is not None:
        made = replace(made, tools=tuple(tools))
    if system is not None or tools is not None:
        made = replace(made, messages=tuple(filter(None, map(_unreasoned, made.messages))))
    if message is not None:
        made = replace(made, messages=_said(made.messages, message))
    return made


def tools_of(text: str) -> list[ToolSchema]:
    """Tools as the API takes them: a JSON list of objects with name, description, input_schema. Raises UsageFault."""
    try:
        given = json.loads(text)
    except ValueError as wrong:
        raise UsageFault(f"The tools are no JSON: {wrong}.") from None
    if not isinstance(given, list):
        raise UsageFault("The tools have to be a JSON list of objects with name, description and input_schema.")
    return [_tool(at, tool) for at, tool in enumerate(given)]


def _tool(at: int, tool: Any) -> ToolSchema:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        raise UsageFault(f"Tool {at} of the list is no object with a name.")
    schema = tool.get("input_schema", {})
    return ToolSchema(tool["name"], str(tool.get("description", "")), schema if isinstance(schema, dict) else {})


def _unreasoned(message: Message) -> Message | None:
    blocks = tuple(block for block in message.blocks if not _reasoning(block))
    return Message(message.role, blocks) if blocks else None


def _reasoning(block: Block) -> bool:
    return isinstance(block, Thinking) or (isinstance(block, Opaque) and "thinking" in str(block.data.get("type")))


def _said(messages: Sequence[Message], words: str) -> tuple[Message, ...]:
    """Other words of the person in the last message; results, notes and pictures in it stay."""
    if not messages or messages[-1].role != "user":
        return (*messages, Message("user", (Text(words),)))
    kept = [block for block in messages[-1].blocks if not isinstance(block, Text)]
    at = next((i for i, block in enumerate(kept) if isinstance(block, Image | Document)), len(kept))
    return (*messages[:-1], Message("user", (*kept[:at], *kept[at:], Text(words))))
