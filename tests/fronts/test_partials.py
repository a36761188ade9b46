"""Stream events made up for models that have none."""

from __future__ import annotations

import json
from typing import Any

from codeagent.core.events import Asked, AssistantSaid, Event, Raw, Retried, TextDelta, ThinkingDelta
from codeagent.core.messages import Text, Thinking, ToolUse, Usage
from codeagent.fronts.partials import Partials
from codeagent.models.accumulator import Accumulator

ASKED = Asked(1, "m", "", "", "", 1, 100)


def pieces(*events: Event) -> list[dict[str, Any]]:
    partials = Partials()
    return [piece for event in events for piece in partials.of(event)]


def test_a_client_that_adds_them_up_gets_the_reply() -> None:
    use = ToolUse("t1", "read", {"file_path": "a.py", "limit": 3})
    said = AssistantSaid((Thinking("hm"), Text("I look."), use, ToolUse("t2", "read", {})), "tool_use", Usage(10, 5))
    told = pieces(ASKED, ThinkingDelta("h"), ThinkingDelta("m"), TextDelta("I "), TextDelta("look."), said)
    accumulator = Accumulator()
    for piece in told:
        accumulator.feed(piece)
    blocks = accumulator.finish().message["content"]
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]
    assert blocks[1]["text"] == "I look."
    assert [piece["type"] for piece in told][-2:] == ["message_delta", "message_stop"]
    calls = [p["delta"]["partial_json"] for p in told if p.get("delta", {}).get("type") == "input_json_delta"]
    assert json.loads(calls[0]) == use.input


def test_a_provider_that_streams_its_own_is_left_alone() -> None:
    assert pieces(ASKED, Raw({"type": "message_start"}), TextDelta("a"), AssistantSaid((Text("a"),))) == []


def test_a_new_attempt_begins_anew() -> None:
    told = pieces(ASKED, TextDelta("half"), Retried(1, 6, 0.5, "Dropped"), TextDelta("whole"))
    assert [piece["type"] for piece in told].count("message_start") == 2
    assert told[-1]["index"] == 0


def test_a_reply_that_did_not_stream_makes_no_events_but_for_its_calls() -> None:
    assert pieces(ASKED, AssistantSaid((Text("all at once"),))) == []
