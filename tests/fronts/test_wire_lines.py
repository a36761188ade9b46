"""Events as lines of the common schema."""

from __future__ import annotations

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Decided,
    Event,
    Noted,
    Opened,
    Raw,
    Retried,
    Switched,
    TextDelta,
    ToolFinished,
    UserSaid,
    ValveClosed,
)
from codeagent.core.messages import Image, Opaque, Text, Thinking, ToolSchema, ToolUse, Usage
from codeagent.core.views import Diff, Hunk
from codeagent.fronts.json_lines import encoded
from codeagent.fronts.wire_lines import WireLines


@pytest.fixture
def wire() -> WireLines:
    numbers = count(1)
    return WireLines("s1", lambda: f"u{next(numbers)}")


def test_init_names_what_the_session_is(wire: WireLines) -> None:
    opened = Opened("s1", "/p", ("sys",), (ToolSchema("read", "", {}),), "m", 1000)
    line = wire.init(opened, model="m2", mode="bypass")
    assert line["type"] == "system"
    assert line["subtype"] == "init"
    assert line["tools"] == ["read"]
    assert line["cwd"] == "/p"
    assert line["model"] == "m2"
    assert line["permissionMode"] == "bypassPermissions"
    assert line["session_id"] == "s1"
    assert line["uuid"] == "u1"


def test_a_reply_becomes_a_message_as_the_api_writes_it(wire: WireLines) -> None:
    said = AssistantSaid(
        (
            Thinking("hm", "sig"),
            Text("Reading.", {"citations": [1]}),
            ToolUse("t1", "read", {"file_path": "a"}),
            Opaque({"type": "new_kind", "x": 1}),
        ),
        "tool_use",
        Usage(10, 5, 100, 20, 3),
        "m",
        message_id="msg_1",
    )
    [line] = wire.of(said)
    message = line["message"]
    assert line["type"] == "assistant"
    assert line["parent_tool_use_id"] is None
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "Reading.", "citations": [1]},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"file_path": "a"}},
        {"type": "new_kind", "x": 1},
    ]
    assert message["id"] == "msg_1"
    assert message["stop_reason"] == "tool_use"
    assert message["usage"] == {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 23,
    }


def test_an_interrupted_reply_says_so_and_has_no_stop_reason(wire: WireLines) -> None:
    [line] = wire.of(AssistantSaid((Text("Half"),), "interrupted"))
    assert line["aborted"] is True
    assert line["message"]["stop_reason"] is None


def test_a_result_of_a_tool_is_a_user_line_with_its_details(wire: WireLines) -> None:
    view = Diff("a.py", (Hunk(1, 1, ("-a", "+b")),), 1, 1)
    [line] = wire.of(ToolFinished("t1", "edit", (Text("done"), Image("image/png", "AAAA")), summary="+1 -1", view=view))
    [content] = line["message"]["content"]
    assert line["type"] == "user"
    assert content["tool_use_id"] == "t1"
    assert content["is_error"] is False
    assert content["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert line["tool_use_result"]["view"]["path"] == "a.py"


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (
            Retried(2, 6, 1.5, "Overloaded", "overloaded", 529),
            {
                "subtype": "api_retry",
                "attempt": 2,
                "max_retries": 6,
                "retry_delay_ms": 1500,
                "error_status": 529,
                "error": "overloaded",
            },
        ),
        (Retried(1, 6, 0.5, "Dropped", "connection"), {"error_status": None}),
        (
            Compacted("sum", 3, before_tokens=900, after_tokens=80),
            {
                "subtype": "compact_boundary",
                "compact_metadata": {"trigger": "auto", "pre_tokens": 900, "post_tokens": 80},
            },
        ),
        (
            Decided("t1", "bash", "Run rm", "deny", "rule", "No.", "bash(rm *)", "settings.json:3"),
            {"subtype": "permission_denied", "tool_name": "bash", "tool_use_id": "t1", "decision_reason": "bash(rm *)"},
        ),
        (Switched(mode="plan"), {"subtype": "status", "permissionMode": "plan"}),
        (Noted("The file changed", level="warning"), {"subtype": "informational", "level": "warning"}),
        (ValveClosed("steps", "Used 40 steps", warning=True), {"subtype": "informational", "content": "Used 40 steps"}),
    ],
)
def test_what_happens_beside_the_conversation(wire: WireLines, event: Event, wanted: dict[str, object]) -> None:
    [line] = wire.of(event)
    assert line["type"] == "system"
    assert wanted.items() <= line.items()


@pytest.mark.parametrize(
    "event",
    [
        Noted("for the model", to="model"),
        Noted("", to="person"),
        Switched(model="m"),
        TextDelta("a"),
        UserSaid((Text("hi"),)),
        Decided("t", "read", "Read a", "allow", "mode"),
    ],
)
def test_what_makes_no_line(wire: WireLines, event: Event) -> None:
    assert wire.of(event) == []


def test_a_provider_event_goes_through_as_it_is(wire: WireLines) -> None:
    [line] = wire.of(Raw({"type": "ping"}))
    assert line["type"] == "stream_event"
    assert line["event"] == {"type": "ping"}


@given(st.dictionaries(st.text(), st.text()))
def test_an_encoded_line_is_one_line_of_json_that_cannot_steer_a_terminal(fields: dict[str, str]) -> None:
    text = encoded(fields)
    assert "\n" not in text
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or ord(c) in (0x202E, 0x2028) for c in text)
    assert json.loads(text) == fields


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert json.loads(encoded({"a": "x\ud800y"})) == {"a": "x\ufffdy"}
