"""The local validator: one breach of each rule is found, and named as the API names it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from codeagent.models.check import MAX_BYTES, problems

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def use(id_: str = "toolu_1", name: str = "read") -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": {}}


def result(id_: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": [text("r")], **more}


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


GOOD: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 4096,
    "system": [text("You help.", **HOUR)],
    "tools": [{"name": "read", "description": "", "input_schema": {"type": "object"}, **HOUR}],
    "messages": [
        said("user", text("a")),
        said("system", text("note")),
        said("assistant", {"type": "thinking", "thinking": "", "signature": "s"}, use(), use("toolu_2")),
        said("user", result("toolu_2"), result(), text("b", **MARK)),
    ],
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "high"},
}


def with_messages(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


TOOL = GOOD["tools"][0]
BREACHES: list[tuple[dict[str, Any], str]] = [
    ({"temperature": 0}, "temperature"),
    ({"surprise": 1}, "surprise: Extra inputs"),
    ({"model": ""}, "model: Field required"),
    ({"max_tokens": 0}, "at least 1"),
    ({"max_tokens": 200_000}, "maximum for claude-sonnet-5-5"),
    ({"tool_choice": {"type": "any"}}, "tool_choice"),
    (with_messages(), "at least one message"),
    ({"tools": []}, "must be defined"),
    ({"tools": [TOOL, TOOL]}, "unique"),
    ({"tools": [{**TOOL, "name": "a b"}]}, "pattern"),
    ({"tools": [{**TOOL, "name": "a" * 65}]}, "pattern"),
    ({"tools": [{**TOOL, "input_schema": {}}]}, "'object'"),
    ({"tools": [{**TOOL, "input_schema": {"type": "object", "anyOf": []}}]}, "union"),
    ({"system": [text(" ")]}, "non-empty"),
    (with_messages(said("assistant", text("a")), said("user", text("b"))), "first message"),
    (with_messages(said("user", text("a")), said("assistant", text("b"))), "prefill"),
    (with_messages(said("user")), "must not be empty"),
    (with_messages(said("user", text(" \n"))), "non-whitespace"),
    (with_messages(said("system", text("a")), said("user", text("b"))), "cannot be first"),
    (
        {**with_messages(said("user", text("a")), said("system", text("b"))), "model": "claude-sonnet-4-6"},
        "not supported",
    ),
    (
        with_messages(
            said("user", text("a")), said("assistant", text("b")), said("system", text("c")), said("user", text("d"))
        ),
        "must follow a user message",
    ),
    (
        with_messages(
            said("user", text("a")),
            said("assistant", use()),
            said("user", text("x")),
            said("system", text("n")),
            said("user", result()),
        ),
        "before a tool_result",
    ),
    (
        with_messages(said("user", text("a")), said("assistant", use()), said("user", text("b"))),
        "without `tool_result`",
    ),
    (with_messages(said("user", text("a")), said("assistant", use())), "without `tool_result`"),
    (with_messages(said("user", text("a"), result())), "unexpected `tool_use_id`"),
    (
        with_messages(said("user", text("a")), said("assistant", use()), said("user", text("b"), result())),
        "must come first",
    ),
    (
        with_messages(said("user", text("a")), said("assistant", use()), said("user", result(), result())),
        "single result",
    ),
    (
        with_messages(said("user", text("a")), said("assistant", use(), use()), said("user", result())),
        "ids must be unique",
    ),
    (
        with_messages(
            said("user", text("a")),
            said("assistant", use()),
            said("user", result()),
            said("assistant", use()),
            said("user", result()),
        ),
        "ids must be unique",
    ),
    (
        with_messages(said("user", text("a")), said("assistant", use()), said("user", result(content=[text("")]))),
        "non-whitespace",
    ),
    (with_messages(said("user", text("a", color="red"))), "color: Extra inputs"),
    (with_messages(said("user", text("a", citations=[]))), "citations"),
    (with_messages(said("user", {"type": "thinking", "thinking": "", "signature": ""})), "not allowed in user"),
    (
        with_messages(said("user", text("a")), said("assistant", {"type": "document"}), said("user", text("b"))),
        "not allowed in assistant",
    ),
    (with_messages(*(said("user", text("a", **HOUR)) for _ in range(3))), "maximum of 4"),
    ({"system": [text("a", **MARK)], "messages": [said("user", text("a", **HOUR))]}, "must not come after"),
    (
        with_messages(
            said("user", text("a")),
            said("assistant", {"type": "thinking", "thinking": "", "signature": "", **HOUR}),
            said("user", text("b")),
        ),
        "thinking.cache_control",
    ),
    ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "'enabled' is not supported"),
    ({"model": "claude-haiku-4-5", "output_config": {}}, "adaptive thinking is not supported"),
    (
        {"model": "claude-haiku-4-5", "output_config": {}, "thinking": {"type": "enabled", "budget_tokens": 4096}},
        "less than max_tokens",
    ),
    ({"model": "claude-sonnet-4-6", "output_config": {"effort": "xhigh"}}, "effort level 'xhigh'"),
    (with_messages(said("user", text("x" * MAX_BYTES))), "bytes"),
    (with_messages(said("user", text("\ud800"))), "surrogate"),
    (
        with_messages(
            said("user", text("a")), said("assistant", {**use(), "input": {"a": float("nan")}}), said("user", result())
        ),
        "NaN",
    ),
    (with_messages(said("user", *[{"type": "image", "source": {}}] * 601)), "images"),
]


def test_a_good_body_has_no_problems() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(("change", "words"), BREACHES, ids=[words for _, words in BREACHES])
def test_a_breach_is_found(change: dict[str, Any], words: str) -> None:
    body = {**copy.deepcopy(GOOD), **change}
    found = problems(body)
    assert any(words in problem for problem in found), found


def test_a_paused_turn_may_come_last() -> None:
    paused = said("assistant", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})
    assert problems({**GOOD, **with_messages(said("user", text("a")), paused)}) == []


def test_plain_strings_are_content_too() -> None:
    body = {"model": "x", "max_tokens": 1, "system": "s", "messages": [{"role": "user", "content": "hello"}]}
    assert problems(body) == []
