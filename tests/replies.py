"""Replies of the scripted server: what is said, what goes wrong, and the events that carry it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Reply:
    """One answer. `fault` happens before event number `at` (0 is `message_start`) of a stream that begins well:

    `cut` ends the body in order, `reset` resets the connection, `stall` falls silent until the client
    leaves, `pings` and `comments` send only those from there on, `error` sends an error event with
    `type` and `message`, `garble` sends what is no JSON.
    """

    blocks: tuple[Mapping[str, Any], ...] = ()
    stop: str = ""
    status: int = 200
    type: str = "api_error"
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    at: int = 0
    body: bytes | None = None
    pieces: int = 0
    delay: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Reply) -> Reply:
        return replace(other, blocks=(*self.blocks, *other.blocks))


def say(text: str, **fields: Any) -> Reply:
    """A reply that is words."""
    return Reply(({"type": "text", "text": text},), **fields)


def think(text: str, signature: str = "c2lnbmVk") -> Reply:
    """Thinking, to be added before something else."""
    return Reply(({"type": "thinking", "thinking": text, "signature": signature},))


def call(name: str, /, **arguments: Any) -> Reply:
    """A call of a tool. Calls and words can be added: `say("I look.") + call("read", path="a.py")`."""
    return Reply(({"type": "tool_use", "name": name, "input": arguments},))


def raw_call(name: str, text: str, **fields: Any) -> Reply:
    """A call whose input is this text, JSON or not."""
    return Reply(({"type": "tool_use", "name": name, "raw": text},), **fields)


def fail(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An HTTP error; `retry_after="2"` becomes the header `retry-after`."""
    return Reply(
        status=status, type=kind, message=message, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def stream(body: bytes, pieces: int = 0) -> Reply:
    """A recorded event stream, byte for byte, in pieces of this size."""
    return Reply(body=body, pieces=pieces)


def from_json(data: Mapping[str, Any]) -> Reply:
    """A reply from one object of a script file."""
    blocks = Reply()
    if "think" in data:
        blocks += think(data["think"])
    if "say" in data:
        blocks += say(data["say"])
    for use in data.get("calls", ()):
        blocks += call(use["name"], **use.get("input", {}))
    rest = {k: v for k, v in data.items() if k not in ("think", "say", "calls")}
    return replace(blocks, **rest)


# --- events ----------------------------------------------------------------------------------


def frame(event: Mapping[str, Any]) -> bytes:
    """An event as it goes over the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def events(reply: Reply, model: str, usage: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    """The events of a reply, as the API sends them."""
    calls = any(block["type"] == "tool_use" for block in reply.blocks)
    written = sum(len(json.dumps(block)) for block in reply.blocks) // CHARS_PER_TOKEN + 1
    message = {"id": f"msg_{number:04d}", "type": "message", "role": "assistant", "model": model, "content": []}
    empty = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, **empty, "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(reply.blocks):
        start, deltas = _grown(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = reply.stop or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None, **reply.extra}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": written}}
    yield {"type": "message_stop"}


def _grown(block: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """How a block begins, and the deltas that make it whole."""
    match block["type"]:
        case "text":
            cut = block.get("cut", 40)
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in _cut(block["text"], cut)]
        case "thinking":
            words = [{"type": "thinking_delta", "thinking": part} for part in _cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*words, signed]
        case "tool_use":
            raw = block["raw"] if "raw" in block else json.dumps(block["input"], ensure_ascii=False)
            start = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            return start, [{"type": "input_json_delta", "partial_json": part} for part in ["", *_cut(raw)]]
        case _:
            return block, []


def _cut(text: str, size: int = 40) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
