"""A finished message of the Messages API as a fact of ours: blocks, stop, usage, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codeagent.core.events import AssistantSaid, Stop
from codeagent.core.messages import Block, Opaque, Text, Thinking, ToolUse, Usage
from codeagent.models import catalog
from codeagent.models.accumulator import Outcome

_STOPS: dict[str, Stop] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause_turn",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window",
}

MOST = 20_000_000
"""Tokens that one reply may count: twenty times the largest window."""


def to_said(
    outcome: Outcome, *, model: str, request_id: str = "", first_ms: int = 0, took_ms: int = 0
) -> AssistantSaid:
    """What the model said. `model` is the id that was asked for, used where the message names none.

    Calls that the output limit cut are dropped and named in `cut`; a finished call whose input is
    no JSON object keeps its raw text in `malformed`.
    """
    message = outcome.message
    stop = _STOPS.get(message.get("stop_reason") or "", "unknown")
    blocks: list[Block] = []
    cut: list[str] = []
    for position, data in enumerate(message.get("content") or ()):
        if data.get("type") == "tool_use" and _is_cut(outcome, position, stop):
            cut.append(str(data.get("name", "")))
        elif (block := _block(data, outcome.unusable.get(position, ""))) != Text(""):
            blocks.append(block)
    usage, doubt = usage_of(message.get("usage") or {})
    named = str(message.get("model") or model)
    price = catalog.cost(named, usage)
    return AssistantSaid(
        tuple(blocks),
        stop,
        usage,
        named,
        catalog.cost(model, usage) if price is None else price,
        message_id=str(message.get("id") or ""),
        request_id=request_id,
        first_ms=first_ms,
        took_ms=took_ms,
        detail=_detail(message),
        cut=tuple(cut),
        miss=_miss(message),
        doubt=doubt,
    )


def _is_cut(outcome: Outcome, position: int, stop: Stop) -> bool:
    """Whether the output limit cut this call. One that was cut before its first byte looks like one without input."""
    if position in outcome.unclosed:
        return True
    last = position == len(outcome.message["content"]) - 1
    return (
        last
        and stop in ("max_tokens", "context_window", "refusal", "unknown")
        and (position in outcome.unusable or position in outcome.blank)
    )


def _block(data: Mapping[str, Any], malformed: str) -> Block:
    """Our block for the API's; nulls are left out, because the API sends them and then refuses them."""
    rest = {key: value for key, value in data.items() if key != "type" and value is not None}
    match data.get("type"):
        case "text":
            return Text(rest.pop("text", ""), rest)
        case "thinking":
            return Thinking(rest.pop("thinking", ""), rest.pop("signature", ""), rest)
        case "tool_use":
            input_ = rest.pop("input", {})
            if not isinstance(input_, dict):
                input_, malformed = {}, malformed or str(input_)
            return ToolUse(rest.pop("id"), rest.pop("name"), {} if malformed else input_, malformed, rest)
        case _:
            return Opaque(data)


def usage_of(data: Any) -> tuple[Usage, str]:
    """Usage in our terms, and what of it cannot be true: then nothing of it is believed, and it is empty.

    When the reply took several inner runs (a fallback, a compaction) all are summed.
    """
    try:
        rounds = data.get("iterations") or ()
        return sum(map(_usage, rounds), Usage()) if len(rounds) > 1 else _usage(data), ""
    except ValueError as fault:
        return Usage(), str(fault)
    except (AttributeError, TypeError):
        return Usage(), "no counts at all"


def _usage(data: Mapping[str, Any]) -> Usage:
    written = _tokens(data, "cache_creation_input_tokens")
    hour = _tokens(data.get("cache_creation") or {}, "ephemeral_1h_input_tokens")
    return Usage(
        _tokens(data, "input_tokens"),
        _tokens(data, "output_tokens"),
        _tokens(data, "cache_read_input_tokens"),
        max(0, written - hour),
        hour,
    )


def _tokens(data: Mapping[str, Any], name: str) -> int:
    """One count. Raises ValueError for one that cannot be true."""
    value = data.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST or value % 1:
        raise ValueError(f"{name}: {str(value)[:20]}")
    return int(value)


def _detail(message: Mapping[str, Any]) -> str:
    """More about the stop: a refusal's category, or the name of a stop that we do not know."""
    details = message.get("stop_details") or {}
    if details.get("category"):
        return str(details["category"])
    stop = message.get("stop_reason")
    return str(stop) if stop and stop not in _STOPS else ""


def _miss(message: Mapping[str, Any]) -> str:
    reason = (message.get("diagnostics") or {}).get("cache_miss_reason")
    return str(reason.get("type", "")) if isinstance(reason, Mapping) else str(reason or "")
