"""A Request as a body: valid, the same each time, and growing only at its end."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.messages import (
    Block,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Request,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from codeagent.models.anthropic_wire import body
from codeagent.models.check import problems
from codeagent.models.features import wanted
from tests.models.kit import request, user

quick = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not fail a law."""

MODELS = ["claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-haiku-4-5", "some-gateway-model"]


def made(asked: Request) -> dict[str, Any]:
    return body(asked, wanted(asked.model, asked.without))


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmarked(part) for key, part in value.items() if key != "cache_control"}
    return [unmarked(part) for part in value] if isinstance(value, list) else value


# --- any conversation ------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=()), max_size=12)
texts = words.map(Text)
notes = words.map(Note)
values = st.recursive(st.none() | st.booleans() | st.integers() | words, lambda part: st.lists(part, max_size=2))
results = st.lists(texts | st.just(Image("image/png", "aGk=")), max_size=2).map(tuple)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Alternating messages that begin and end with the user; each call is answered."""
    messages = [Message("user", (Text("begin"), *draw(st.lists(texts | notes, max_size=3))))]
    for turn in range(draw(st.integers(0, 4))):
        uses = [
            ToolUse(
                f"toolu_{turn}_{i}", "read", draw(st.dictionaries(words, values, max_size=2)), draw(st.just("") | words)
            )
            for i in range(draw(st.integers(0, 2)))
        ]
        said: list[Block] = [Text("said"), Thinking(draw(words), "c2ln"), *draw(st.lists(texts, max_size=1)), *uses]
        answers: list[Block] = [ToolResult(use.id, draw(results), draw(st.booleans())) for use in uses]
        after = draw(st.lists(texts | notes | st.just(Document("application/pdf", "aGk=")), max_size=3))
        mixed = draw(st.permutations([*answers, *after]))
        messages += [Message("assistant", tuple(said)), Message("user", (*mixed, Text("go on")))]
    return tuple(messages)


requests = st.builds(
    lambda model, messages, cache, effort, previous: request(
        *messages, model=model, cache=cache, effort=effort, previous=previous
    ),
    st.sampled_from(MODELS),
    conversations(),
    st.sampled_from(["5m", "1h"]),
    st.sampled_from(["", "low", "high", "xhigh", "nonsense"]),
    st.sampled_from(["", "msg_1"]),
)


@quick
@given(requests)
def test_every_body_is_valid(asked: Request) -> None:
    assert problems(made(asked)) == []


@quick
@given(requests, st.sampled_from([(), ("mid_system",), ("cache",), ("cache_1h", "effort"), ("thinking_display",)]))
def test_the_same_request_gives_the_same_bytes_and_is_left_alone(asked: Request, without: tuple[str, ...]) -> None:
    before = copy.deepcopy(asked)
    features = wanted(asked.model, without)
    assert json.dumps(body(asked, features)) == json.dumps(body(asked, features))
    assert asked == before


@quick
@given(requests)
def test_a_longer_conversation_extends_the_body_of_a_shorter(asked: Request) -> None:
    whole = unmarked(made(asked))
    for end in range(1, len(asked.messages), 2):
        shorter = request(*asked.messages[:end], model=asked.model, effort=asked.effort)
        part = unmarked(made(shorter))
        assert whole["messages"][: len(part["messages"])] == part["messages"]
        assert (whole["tools"], whole["system"]) == (part["tools"], part["system"])


@quick
@given(requests)
def test_marks_are_few_and_on_the_same_places(asked: Request) -> None:
    sent = made(asked)
    assert "cache_control" in sent["system"][-1]
    assert "cache_control" in sent["tools"][-1]
    users = [message for message in sent["messages"] if message["role"] == "user"]
    assert all("cache_control" in message["content"][-1] for message in users[-2:])
    assert json.dumps(sent).count('"cache_control"') == 2 + len(users[-2:])


# --- particular things -----------------------------------------------------------------------


def test_the_whole_body_of_a_small_request() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    sent = made(request(cache="1h", effort="high", previous="msg_1"))
    assert sent == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "You help.", "cache_control": mark}],
        "tools": [
            {
                "name": "read",
                "description": "Reads a file.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
                "cache_control": mark,
            }
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": mark}]}],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
        "diagnostics": {"previous_message_id": "msg_1"},
    }


@pytest.mark.parametrize(
    ("fields", "thinking"),
    [
        ({"model": "claude-sonnet-4-6"}, {"type": "adaptive"}),
        ({"model": "claude-haiku-4-5"}, {"type": "enabled", "budget_tokens": 2048}),
        ({"model": "claude-haiku-4-5", "max_tokens": 64_000}, {"type": "enabled", "budget_tokens": 16_000}),
        ({"model": "claude-haiku-4-5", "max_tokens": 1500}, None),
        ({"model": "qwen3"}, None),
        ({"without": ("thinking_display",)}, {"type": "adaptive"}),
        ({"without": ("adaptive_thinking",)}, None),
    ],
)
def test_thinking_is_asked_for_in_the_models_way(fields: dict[str, Any], thinking: Any) -> None:
    assert made(request(**fields)).get("thinking") == thinking


def test_an_effort_that_the_model_lacks_is_not_sent() -> None:
    assert "output_config" not in made(request(model="claude-sonnet-4-6", effort="xhigh"))
    assert "output_config" not in made(request(model="claude-haiku-4-5", effort="low"))
    assert made(request(model="claude-sonnet-4-6", effort="max"))["output_config"] == {"effort": "max"}


def roles(asked: Request) -> list[tuple[str, list[str]]]:
    return [
        (message["role"], [block.get("text", block["type"]) for block in message["content"]])
        for message in made(asked)["messages"]
    ]


def test_notes_become_system_messages_behind_the_words() -> None:
    asked = request(Message("user", (Note("first"), Text("a"), Note("b"), Note("c"), Text("d"))))
    assert roles(asked) == [("user", ["a"]), ("system", ["first", "b", "c"]), ("user", ["d"])]


def test_a_note_never_parts_a_call_from_its_result() -> None:
    use = Message("assistant", (ToolUse("toolu_1", "read", {}),))
    told = Message("user", (Note("n"), ToolResult("toolu_1", (Text("r"),)), Text("t")))
    assert roles(request(user("a"), use, told))[2:] == [
        ("user", ["tool_result"]),
        ("system", ["n"]),
        ("user", ["t"]),
    ]


def test_without_system_messages_notes_are_tagged_text_in_their_place() -> None:
    asked = request(Message("user", (Text("a"), Note("b"), Text("c"))), model="claude-sonnet-4-6")
    assert roles(asked) == [("user", ["a", '<note from="codeagent">\nb\n</note>', "c"])]


def test_a_message_of_notes_alone_is_the_users() -> None:
    assert roles(request(Message("user", (Note("b"),)))) == [("user", ['<note from="codeagent">\nb\n</note>'])]


def test_blocks_are_said_back_verbatim() -> None:
    blocks = (
        Thinking("", "c2ln"),
        Opaque({"type": "redacted_thinking", "data": "xyz"}),
        Text("a", {"citations": [{"type": "char_location", "cited_text": "q"}]}),
        ToolUse("toolu_1", "read", {"path": "é"}, "", {"caller": {"type": "direct"}}),
    )
    answer = Message("user", (ToolResult("toolu_1", (), True),))
    sent = made(request(user("a"), Message("assistant", blocks), answer))["messages"]
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "q"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "é"}, "caller": {"type": "direct"}},
    ]
    assert unmarked(sent[2]["content"]) == [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True}]


def test_a_malformed_call_goes_back_without_input() -> None:
    use = Message("assistant", (ToolUse("toolu_1", "read", {"half": 1}, '{"half": 1, '),))
    sent = made(request(user("a"), use, Message("user", (ToolResult("toolu_1", (Text("no"),)),))))
    assert sent["messages"][1]["content"][0]["input"] == {}


def test_a_lone_surrogate_does_not_leave() -> None:
    use = Message("assistant", (ToolUse("toolu_1", "read", {"p\udc80": ["\ud800", {"k": "\udfff"}]}),))
    answer = Message("user", (ToolResult("toolu_1", (Text("caf\udce9 ü"),)),))
    sent = made(request(user("\ud83d"), use, answer, system=("a\udcff",)))
    json.dumps(sent, ensure_ascii=False).encode()
    assert sent["messages"][2]["content"][0]["content"][0]["text"] == "caf? ü"


def test_a_document_keeps_its_name() -> None:
    sent = made(request(Message("user", (Document("application/pdf", "aGk=", "a.pdf"),))))
    assert unmarked(sent["messages"][0]["content"]) == [
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
            "title": "a.pdf",
        }
    ]
