"""Stream events in the API's form for replies of models that have none of their own (scripts, stand-ins, others)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codeagent.core.events import Asked, AssistantSaid, Event, Raw, Retried, TextDelta, ThinkingDelta
from codeagent.core.messages import ToolUse
from codeagent.fronts.wire_lines import stop_reason, usage

Piece = dict[str, Any]

_START: dict[str, Piece] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}
_DELTA = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


class Partials:
    """Shown every event, it gives the events of a stream; nothing for a reply whose provider streams them itself."""

    def __init__(self) -> None:
        self._silent = False
        self._model = ""
        self._index = -1
        self._kind = ""

    def of(self, event: Event) -> Iterator[Piece]:
        """The stream events that this event stands for."""
        match event:
            case Asked(model=model, purpose="step"):
                self._silent, self._model = False, model
                self._restart()
            case Raw():
                self._silent = True
            case Retried():
                self._restart()
            case _ if self._silent:
                pass
            case TextDelta(text=text):
                yield from self._words("text", text)
            case ThinkingDelta(text=text):
                yield from self._words("thinking", text)
            case AssistantSaid():
                yield from self._said(event)
            case _:
                pass

    def _restart(self) -> None:
        self._index, self._kind = -1, ""

    def _words(self, kind: str, text: str) -> Iterator[Piece]:
        if self._kind != kind:
            yield from self._begin(kind, _START[kind])
        name, field = _DELTA[kind]
        yield {"type": "content_block_delta", "index": self._index, "delta": {"type": name, field: text}}

    def _begin(self, kind: str, block: Piece) -> Iterator[Piece]:
        if self._index < 0:
            message: Piece = {
                "type": "message",
                "role": "assistant",
                "model": self._model,
                "content": [],
                "stop_reason": None,
            }
            yield {"type": "message_start", "message": {"id": "", **message, "usage": {}}}
        yield from self._end()
        self._index += 1
        self._kind = kind
        yield {"type": "content_block_start", "index": self._index, "content_block": block}

    def _end(self) -> Iterator[Piece]:
        if self._kind:
            self._kind = ""
            yield {"type": "content_block_stop", "index": self._index}

    def _said(self, said: AssistantSaid) -> Iterator[Piece]:
        """The calls, whole, and the end of the message."""
        for use in said.uses:
            yield from self._call(use)
        yield from self._end()
        if self._index >= 0:
            ended = {"stop_reason": stop_reason(said.stop), "stop_sequence": None}
            yield {"type": "message_delta", "delta": ended, "usage": usage(said.usage)}
            yield {"type": "message_stop"}

    def _call(self, use: ToolUse) -> Iterator[Piece]:
        yield from self._begin("tool_use", {"type": "tool_use", "id": use.id, "name": use.name, "input": {}})
        text = json.dumps(dict(use.input))
        delta = {"type": "input_json_delta", "partial_json": text}
        yield {"type": "content_block_delta", "index": self._index, "delta": delta}
