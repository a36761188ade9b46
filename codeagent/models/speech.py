"""A ready reply, said as a stream: the same pieces in the same order every time, at any pace."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from codeagent.core.compaction import INSTRUCTION
from codeagent.core.conversation import canonical
from codeagent.core.events import AssistantSaid, CallDelta, Delta, Retried, TextDelta, ThinkingDelta
from codeagent.core.messages import Request, Text, Thinking, ToolUse, Usage
from codeagent.core.ports import Model

_PIECE = re.compile(r".{1,12}\S{0,24}\s?", re.DOTALL)
"""A word or two: what real models send at a time."""


async def deltas(said: AssistantSaid, pace: float = 0) -> AsyncGenerator[Delta, None]:
    """The reply's deltas at `pace` characters a second, 0 for at once."""
    for block in said.blocks:
        if isinstance(block, ToolUse):
            yield CallDelta(block.id, block.name, len(json.dumps(dict(block.input)).encode()))
        elif isinstance(block, Text | Thinking):
            delta = TextDelta if isinstance(block, Text) else ThinkingDelta
            for piece in _PIECE.findall(block.text):
                yield delta(piece)
                await rest(len(piece) / pace if pace else 0)


async def rest(seconds: float) -> None:
    """Wait; always lets others run, so that a reply without a pace can be interrupted too."""
    import asyncio

    await asyncio.sleep(seconds)


def listening(model: Model, request: Request) -> aclosing[AsyncGenerator[Delta | Retried | AssistantSaid, None]]:
    """The model's stream for `async with`: it ends at the latest when the block does."""
    return aclosing(cast("AsyncGenerator[Delta | Retried | AssistantSaid, None]", model.stream(request)))


def estimate(request: Request, said: AssistantSaid) -> Usage:
    """Usage at 4 bytes a token, as if the provider cached exact prefixes.

    What the request before this one held, everything up to the last reply, counts as read from
    the cache; the rest as written to it.
    """
    last = max((i for i, message in enumerate(request.messages) if message.role == "assistant"), default=-1)
    known = _tokens(request.system, request.tools, request.messages[:last]) if last > 0 else 0
    prompt = _tokens(request.system, request.tools, request.messages)
    return Usage(output=_tokens(said.blocks), cache_read=known, cache_write=prompt - known)


def wants_summary(request: Request) -> bool:
    """Whether this request is a compaction's."""
    last = request.messages[-1].blocks[-1] if request.messages and request.messages[-1].blocks else None
    return isinstance(last, Text) and last.text.startswith(INSTRUCTION)


def _tokens(*parts: object) -> int:
    return -(-sum(len(canonical(part)) for part in parts) // 4)
