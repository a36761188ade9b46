"""Servers that refuse an optional feature lead to an answer without it, on the first try of the person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from codeagent.core.errors import RequestRejected
from codeagent.core.events import AssistantSaid
from codeagent.core.messages import Message, Note, Request, Text
from codeagent.models.anthropic import Anthropic
from tests.loopback import Loopback, Reply, fail, say
from tests.models.kit import answered, request, user

Sent = Callable[[Any], bool]


def _ttl(body: Any) -> bool:
    return body["system"][-1].get("cache_control", {}).get("ttl") == "1h"


SERVERS: list[tuple[str, str, Sent, str]] = [
    (
        "mid_system",
        "claude-sonnet-5-5",
        lambda body: any(message["role"] == "system" for message in body["messages"]),
        "messages.1.role: Input should be 'user' or 'assistant'",
    ),
    (
        "effort",
        "claude-sonnet-5-5",
        lambda body: "output_config" in body,
        "This model does not support effort level 'high'. Supported levels: none.",
    ),
    (
        "effort",
        "claude-opus-4-6",
        lambda body: "output_config" in body,
        "output_config: Extra inputs are not permitted",
    ),
    (
        "thinking_display",
        "claude-opus-5-5",
        lambda body: "display" in body.get("thinking", {}),
        "thinking.adaptive.display: Extra inputs are not permitted",
    ),
    (
        "adaptive_thinking",
        "claude-sonnet-5-5",
        lambda body: "thinking" in body,
        "adaptive thinking is not supported on this model",
    ),
    (
        "budget_thinking",
        "claude-haiku-4-5",
        lambda body: "thinking" in body,
        "thinking.enabled.budget_tokens: Extra inputs are not permitted",
    ),
    (
        "diagnostics",
        "claude-sonnet-5-5",
        lambda body: "diagnostics" in body,
        "diagnostics: Extra inputs are not permitted",
    ),
    ("cache_1h", "claude-sonnet-5-5", _ttl, "system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted"),
    (
        "cache",
        "qwen3:30b",
        lambda body: "cache_control" in body["system"][-1],
        "system.0.cache_control: Extra inputs are not permitted",
    ),
]


def full(model: str) -> Request:
    """A request with everything optional in it."""
    told = Message("user", (Text("hello"), Note("the branch changed")))
    return request(
        user("begin"),
        Message("assistant", (Text("yes"),)),
        told,
        model=model,
        effort="high",
        cache="1h",
        previous="msg_1",
    )


async def first_try(adapter: Anthropic, asked: Request) -> tuple[AssistantSaid, tuple[str, ...]]:
    """What the core does: leave out what was refused, each thing once, and ask again."""
    while True:
        try:
            return await answered(adapter, asked), asked.without
        except RequestRejected as error:
            if not error.feature or error.feature in asked.without:
                raise
            asked = msgspec.structs.replace(asked, without=(*asked.without, error.feature))


@pytest.mark.parametrize(("feature", "model", "sent", "words"), SERVERS)
async def test_a_refused_feature_is_left_out(
    feature: str, model: str, sent: Sent, words: str, connect: Callable[..., Anthropic]
) -> None:
    def reply(body: Any) -> Reply:
        return fail(400, "invalid_request_error", words) if sent(body) else say("ok")

    with Loopback(reply, models=[model]) as server:
        said, without = await first_try(connect(server), full(model))
    assert said.text == "ok"
    assert without == (feature,)
    assert [sent(body) for body in server.bodies] == [True, False]


async def test_a_refused_beta_header_is_left_out(connect: Callable[..., Anthropic]) -> None:
    words = "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header."
    replies = [fail(400, "invalid_request_error", words), say("ok")]
    with Loopback(replies) as server:
        _, without = await first_try(connect(server), full("claude-haiku-4-5"))
    assert without == ("interleaved_thinking",)
    assert ["anthropic-beta" in seen.headers for seen in server.requests] == [True, False]


async def test_a_gateway_that_takes_nothing_optional_still_answers(connect: Callable[..., Anthropic]) -> None:
    def reply(body: Any) -> Reply:
        for feature, _, sent, words in SERVERS:
            if feature != "budget_thinking" and sent(body):
                return fail(400, "invalid_request_error", words)
        return say("ok")

    with Loopback(reply) as server:
        said, without = await first_try(connect(server), full("claude-sonnet-5-5"))
    assert said.text == "ok"
    every = {"mid_system", "effort", "thinking_display", "adaptive_thinking", "diagnostics", "cache_1h", "cache"}
    assert set(without) == every


@pytest.mark.parametrize(
    "model",
    [
        "claude-sonnet-5-5",
        "claude-opus-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-2",
        "claude-opus-4-8",
        "claude-haiku-4-5",
    ],
)
async def test_a_current_model_takes_the_first_request(model: str, connect: Callable[..., Anthropic]) -> None:
    with Loopback([say("ok")]) as server:
        _, without = await first_try(connect(server), full(model))
    assert without == ()
    assert len(server.requests) == 1
