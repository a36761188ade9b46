"""A finished message as a fact: usage, cost, cache misses, unknown things."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.messages import Opaque, Text, Usage
from codeagent.models.accumulator import Accumulator
from codeagent.models.said import MOST, to_said, usage_of


def said(content: list[Any], **delta: Any) -> Any:
    accumulator = Accumulator()
    start = {"id": "msg_1", "model": "claude-sonnet-5-5", "content": content, "usage": {"input_tokens": 3}}
    accumulator.feed({"type": "message_start", "message": start})
    accumulator.feed({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}})
    accumulator.feed({"type": "message_stop"})
    return to_said(accumulator.finish(), model="sonnet", request_id="req_1", first_ms=1, took_ms=2)


@pytest.mark.parametrize(
    ("reason", "stop", "detail"),
    [
        ("end_turn", "end_turn", ""),
        ("model_context_window_exceeded", "context_window", ""),
        ("compaction", "unknown", "compaction"),
        (None, "unknown", ""),
    ],
)
def test_stop_reasons_are_translated(reason: str | None, stop: str, detail: str) -> None:
    reply = said([], stop_reason=reason)
    assert (reply.stop, reply.detail) == (stop, detail)


def test_unknown_blocks_stay_whole_and_nulls_and_empty_text_go() -> None:
    odd = {"type": "hologram", "data": {"a": None}}
    reply = said([odd, {"type": "text", "text": ""}, {"type": "text", "text": "a", "citations": None}])
    assert reply.blocks == (Opaque(odd), Text("a"))


def test_usage_splits_the_cache_write_by_lifetime() -> None:
    data = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 10,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6},
    }
    assert usage_of(data) == (Usage(1, 2, 3, 4, 6), "")
    assert usage_of({"input_tokens": None, "cache_creation": None}) == (Usage(), "")


def test_inner_runs_are_summed() -> None:
    rounds = [{"input_tokens": 10, "output_tokens": 1}, {"input_tokens": 20, "output_tokens": 2}]
    assert usage_of({"input_tokens": 20, "output_tokens": 2, "iterations": rounds}) == (Usage(30, 3), "")
    assert usage_of({"input_tokens": 20, "output_tokens": 2, "iterations": rounds[1:]}) == (Usage(20, 2), "")


def test_a_cache_miss_is_named() -> None:
    assert said([], diagnostics={"cache_miss_reason": {"type": "tools_changed", "tokens": 5}}).miss == "tools_changed"
    assert said([], diagnostics={"cache_miss_reason": None}).miss == ""


def test_a_cost_is_that_of_the_model_that_answered() -> None:
    assert said([]).cost == pytest.approx((3 * 2 + 5 * 10) / 1e6)


def test_events_after_the_end_change_nothing() -> None:
    accumulator = Accumulator()
    accumulator.feed({"type": "message_start", "message": {"id": "msg_1", "content": []}})
    accumulator.feed({"type": "message_stop"})
    before = accumulator.finish()
    assert accumulator.feed({"type": "error", "error": {"type": "api_error"}}) == []
    assert accumulator.finish() == before


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "x"}},
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "a"}},
    ],
)
def test_an_event_of_another_shape_is_an_error(event: Any) -> None:
    with pytest.raises((KeyError, ValueError)):
        Accumulator().feed(event)


ABSURD = st.one_of(
    st.integers(max_value=-1),
    st.integers(min_value=MOST + 1),
    st.floats(allow_nan=True).filter(lambda n: not (0 <= n <= MOST and n == int(n))),
    st.sampled_from(["12", True, [1], {"n": 1}]),
)
COUNTS = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]


@given(st.sampled_from(COUNTS), ABSURD, st.booleans())
def test_counts_that_cannot_be_true_are_not_believed_and_named(name: str, value: object, inner: bool) -> None:
    data = {"input_tokens": 7, "output_tokens": 8} | {name: value}
    usage, doubt = usage_of({"iterations": [{"input_tokens": 1}, data]} if inner else data)
    assert usage == Usage()
    assert doubt.startswith(name)


@given(st.dictionaries(st.sampled_from(COUNTS), st.integers(0, MOST) | st.none()))
def test_counts_that_can_be_true_are_believed(data: dict[str, int | None]) -> None:
    usage, doubt = usage_of(data)
    assert (usage.total, doubt) == (sum(filter(None, data.values())), "")


@pytest.mark.parametrize("usage", ["none", 12, [1], {"iterations": 3}, {"cache_creation": 7}, {"iterations": [1, 2]}])
def test_no_counts_at_all_cost_no_reply(usage: Any) -> None:
    accumulator = Accumulator()
    accumulator.feed({"type": "message_start", "message": {"content": [], "usage": usage}})
    accumulator.feed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})
    accumulator.feed({"type": "message_stop"})
    reply = to_said(accumulator.finish(), model="sonnet")
    assert (reply.stop, reply.usage) == ("end_turn", Usage())
    assert reply.doubt
