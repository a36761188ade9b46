"""Stream events of the Messages API, put together to one message: pure and strict.

The SDK's own helper reports neither a stream that ends early nor a call whose input is cut; this does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from codeagent.core.events import CallDelta, Delta, TextDelta, ThinkingDelta

Event = Mapping[str, Any]


class Outcome(NamedTuple):
    """How a stream ended.

    `message` holds what came, in the API's form. `unusable` maps the position of a block to its
    raw input when that is no JSON object; `blank` are positions of calls whose input never came;
    `unclosed` are positions of blocks without an end.
    """

    ended: Literal["complete", "truncated_stream", "stream_error"]
    message: dict[str, Any]
    unusable: dict[int, str]
    blank: frozenset[int]
    unclosed: tuple[int, ...]
    error: Mapping[str, Any]


class _Open:
    """A block that grows: its start and the pieces that came since, joined once at the end."""

    def __init__(self, start: Event, *, closed: bool = False) -> None:
        self.block = dict(start)
        self.pieces: dict[str, list[str]] = {}
        self.received = 0
        self.closed = closed

    def add(self, field: str, piece: str) -> None:
        self.pieces.setdefault(field, []).append(piece)

    def whole(self) -> dict[str, Any]:
        """The block with all its pieces, without its streamed input."""
        for field, pieces in self.pieces.items():
            if field != "partial_json":
                self.block[field] = (self.block.get(field) or "") + "".join(pieces)
        return self.block


class Accumulator:
    """Takes the events of one reply in order. After an `error` event or `message_stop`, further ones are ignored."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: list[_Open] = []
        self._open: dict[int, _Open] = {}
        self._stopped = False
        self._error: Mapping[str, Any] = {}

    @property
    def over(self) -> bool:
        """True when the message is complete or an error ended it."""
        return self._stopped or bool(self._error)

    def feed(self, event: Event) -> list[Delta]:
        """Take one event; what of it can be shown. Pings and unknown kinds are passed over.

        An event without the fields of its kind raises KeyError, TypeError or ValueError.
        """
        if self.over:
            return []
        match event.get("type"):
            case "message_start":
                return self._start(event["message"])
            case "content_block_start":
                return self._open_block(event["index"], event["content_block"])
            case "content_block_delta":
                return self._grow(event["index"], event["delta"])
            case "content_block_stop":
                if block := self._open.pop(event["index"], None):
                    block.closed = True
            case "message_delta":
                self._overlay(event)
            case "message_stop":
                self._stopped = True
            case "error":
                error = event.get("error")
                self._error = error if isinstance(error, Mapping) and error else {"type": "unknown", "message": ""}
            case _:
                pass
        return []

    def finish(self) -> Outcome:
        """The message as it stands, and whether it is whole."""
        unusable: dict[int, str] = {}
        blank: set[int] = set()
        content: list[dict[str, Any]] = []
        for position, block in enumerate(self._blocks):
            content.append(block.whole())
            if "partial_json" not in block.pieces:
                continue
            raw = "".join(block.pieces["partial_json"])
            if not raw.strip():
                blank.add(position)
            elif (parsed := _object(raw)) is None:
                unusable[position] = raw
            else:
                block.block["input"] = parsed
        if self._message:
            self._message["content"] = content
        return Outcome(
            "stream_error" if self._error else "complete" if self._stopped else "truncated_stream",
            self._message,
            unusable,
            frozenset(blank),
            tuple(i for i, block in enumerate(self._blocks) if not block.closed),
            self._error,
        )

    def _start(self, message: Event) -> list[Delta]:
        if self._message:  # seen behind gateways: the second one repeats the first
            return []
        self._message = {**message, "usage": _counts(message.get("usage"))}
        self._blocks = [_Open(block, closed=True) for block in message.get("content") or ()]
        return [delta for block in self._blocks for delta in _shown(block.block)]

    def _open_block(self, index: int, start: Event) -> list[Delta]:
        block = self._open[index] = _Open(start)
        self._blocks.append(block)
        return _shown(start)

    def _grow(self, index: int, delta: Event) -> list[Delta]:
        block = self._open.get(index)
        if block is None:
            raise ValueError(f"a delta for block {index}, which is not open")
        match delta.get("type"):
            case "text_delta":
                block.add("text", delta["text"])
                return [TextDelta(delta["text"])]
            case "thinking_delta":
                block.add("thinking", delta["thinking"])
                return [ThinkingDelta(delta["thinking"])] if delta["thinking"] else []
            case "signature_delta":
                block.block["signature"] = delta["signature"]
            case "input_json_delta":
                return self._write(block, delta["partial_json"])
            case "citations_delta":
                block.block["citations"] = [*(block.block.get("citations") or ()), delta["citation"]]
            case "compaction_delta":
                for field, value in delta.items():
                    if field != "type" and isinstance(value, str):
                        block.add(field, value)
            case _:
                pass
        return []

    @staticmethod
    def _write(block: _Open, piece: str) -> list[Delta]:
        block.add("partial_json", piece)
        block.received += len(piece.encode("utf-8", "replace"))
        if block.block.get("type") != "tool_use":
            return []
        return [CallDelta(block.block["id"], block.block["name"], block.received)]

    def _overlay(self, event: Event) -> None:
        """Fields that are known only at the end; usage of the start may be provisional, nulls say nothing."""
        self._message.update(event.get("delta") or {})
        for field, value in event.items():
            if field not in ("type", "delta", "usage"):
                self._message[field] = value
        self._message["usage"] = {**self._message.get("usage", {}), **_counts(event.get("usage"))}


def _counts(usage: object) -> dict[str, Any]:
    """The counts that were given. What is no object stands under a count's name, so that it is doubted later."""
    if not isinstance(usage, Mapping):
        return {"input_tokens": str(usage)} if usage else {}
    return {key: value for key, value in usage.items() if value is not None}


def _shown(start: Event) -> list[Delta]:
    """What can be shown of a block's beginning."""
    match start.get("type"):
        case "text" if start.get("text"):
            return [TextDelta(start["text"])]
        case "thinking" if start.get("thinking"):
            return [ThinkingDelta(start["thinking"])]
        case "tool_use":
            return [CallDelta(start["id"], start["name"], 0)]
        case _:
            return []


def _object(raw: str) -> dict[str, Any] | None:
    """The JSON object in `raw`, or None: half a value, NaN, a list are not one."""
    try:
        value = json.loads(raw, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
