"""The adapter against a server with faults: what is yielded, what is raised, where the key goes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from codeagent.core.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, RequestRejected
from codeagent.core.events import AssistantSaid, CallDelta, Raw, TextDelta, ThinkingDelta
from codeagent.core.messages import Text, Thinking, ToolUse
from codeagent.models.anthropic import Anthropic
from tests.loopback import KEY, Loopback, Reply, call, fail, raw_call, say, think
from tests.models.kit import answered, heard, request, user

Connect = Callable[..., Anthropic]


async def failure(adapter: Anthropic, **fields: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await heard(adapter, request(**fields))
    return caught.value


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


# --- a reply ---------------------------------------------------------------------------------


async def test_a_reply_streams_and_ends_in_one_fact(connect: Connect) -> None:
    reply = think("I ponder.") + say("I look at it, in more than forty characters.") + call("read", path="a.py")
    with Loopback([reply]) as server:
        *deltas, said = await heard(connect(server), request())
    assert deltas[:3] == [
        ThinkingDelta("I ponder."),
        TextDelta("I look at it, in more than forty charact"),
        TextDelta("ers."),
    ]
    assert isinstance(deltas[3], CallDelta)
    assert said.blocks == (
        Thinking("I ponder.", "c2lnbmVk"),
        Text("I look at it, in more than forty characters."),
        ToolUse("toolu_0001", "read", {"path": "a.py"}),
    )
    assert (said.stop, said.model, said.message_id, said.request_id) == (
        "tool_use",
        "claude-sonnet-5-5",
        "msg_0001",
        "req_0001",
    )
    assert said.usage.prompt > 0
    assert said.cost == pytest.approx((said.usage.cache_write * 2.5 + said.usage.output * 10) / 1e6)
    assert 0 <= said.first_ms <= said.took_ms


async def test_raw_events_come_only_when_asked_for(connect: Connect) -> None:
    with Loopback([say("a"), say("a")]) as server:
        with_raw = await heard(connect(server, raw=True), request())
        without = await heard(connect(server), request())
    assert [event.event["type"] for event in with_raw if isinstance(event, Raw)] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [type(event) for event in without] == [TextDelta, AssistantSaid]


async def test_a_growing_call_is_told_at_a_bounded_rate(connect: Connect) -> None:
    with Loopback([call("write", path="a", content="x" * 40_000)]) as server:
        got = await heard(connect(server), request())
    told = [event.received for event in got if isinstance(event, CallDelta)]
    assert told[0] == 0  # 40 kB: a word for each kB, a few more if the machine is slow
    assert told == sorted(set(told))
    assert 30 <= len(told) <= 70


async def test_the_connection_is_kept_from_step_to_step(connect: Connect) -> None:
    with Loopback([say("a"), call("read", path="a"), fail(529, "overloaded_error", "busy"), say("b")]) as server:
        adapter = connect(server)
        await answered(adapter, request())
        await answered(adapter, request())
        assert isinstance(await failure(adapter), ModelBusy)
        await answered(adapter, request())
    assert server.connections == 1


async def test_a_longer_conversation_reads_its_prefix_from_the_cache(connect: Connect) -> None:
    with Loopback(lambda _: say("done")) as server:
        adapter = connect(server)
        messages = [user("begin " * 100)]
        for step in range(4):
            said = await answered(adapter, request(*messages, cache="1h"))
            assert (said.usage.cache_read > 0) == (step > 0)
            assert said.usage.input == said.usage.cache_write == 0
            assert said.usage.cache_write_1h > 0
            messages += [type(messages[0])("assistant", said.blocks), user("go on")]


# --- what is cut or malformed ----------------------------------------------------------------


@pytest.mark.parametrize("raw", ['{"path": "a.py", "content": "hal', '{"path"', ""])
async def test_a_call_that_the_limit_cut_is_dropped_and_named(raw: str, connect: Connect) -> None:
    with Loopback([say("I write.") + raw_call("write", raw, stop="max_tokens")]) as server:
        said = await answered(connect(server), request())
    assert (said.blocks, said.cut, said.stop) == ((Text("I write."),), ("write",), "max_tokens")


async def test_a_whole_call_before_the_limit_is_kept(connect: Connect) -> None:
    with Loopback([call("read", path="a") + raw_call("write", '{"pa', stop="max_tokens")]) as server:
        said = await answered(connect(server), request())
    assert [use.name for use in said.uses] == ["read"]
    assert said.cut == ("write",)


@pytest.mark.parametrize("raw", ["[1]", '"words"', '{"a": 1', '{"a": NaN}', "nonsense"])
async def test_an_input_that_is_no_object_is_kept_as_malformed(raw: str, connect: Connect) -> None:
    with Loopback([raw_call("write", raw)]) as server:
        said = await answered(connect(server), request())
    assert said.uses == (ToolUse("toolu_0001", "write", {}, raw),)
    assert said.cut == ()


async def test_a_call_without_any_input_is_a_call(connect: Connect) -> None:
    with Loopback([raw_call("list", "")]) as server:
        said = await answered(connect(server), request())
    assert said.uses == (ToolUse("toolu_0001", "list", {}),)


async def test_a_refusal_says_its_category(connect: Connect) -> None:
    details = {"stop_details": {"type": "refusal", "category": "cyber"}}
    with Loopback([say("I can", stop="refusal", extra=details)]) as server:
        said = await answered(connect(server), request())
    assert (said.stop, said.detail) == ("refusal", "cyber")


# --- no's ------------------------------------------------------------------------------------

NOS = [
    (
        fail(401, "authentication_error", "invalid x-api-key"),
        ModelUnavailable,
        "authentication_failed",
        "ANTHROPIC_API_KEY",
    ),
    (fail(403, "permission_error", "not for you"), ModelUnavailable, "permission", "claude-sonnet-5-5"),
    (fail(402, "billing_error", "no credit"), ModelUnavailable, "billing_error", "no credit"),
    (
        fail(400, "invalid_request_error", "Your credit balance is too low"),
        ModelUnavailable,
        "billing_error",
        "balance",
    ),
    (fail(429, "rate_limit_error", "slow down", retry_after="7"), ModelBusy, "rate_limit", "slow down"),
    (fail(429, "rate_limit_error", "You reached your spend limit"), ModelUnavailable, "billing_error", "spend limit"),
    (fail(500, "api_error", "oops"), ModelBusy, "server_error", "HTTP 500"),
    (fail(502, "", "<html><h1>Bad gateway</h1></html>"), ModelBusy, "server_error", "502"),
    (fail(529, "overloaded_error", "Overloaded"), ModelBusy, "overloaded", "Overloaded"),
    (fail(408, "timeout_error", "late"), ModelBusy, "timeout", "late"),
    (fail(413, "request_too_large", "too big"), RequestRejected, "invalid_request", "Compact"),
    (
        fail(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        ContextOverflow,
        "prompt_too_long",
        "9",
    ),
    (fail(400, "invalid_request_error", "tools.0: bad"), RequestRejected, "invalid_request", "tools.0: bad"),
    (
        fail(400, "invalid_request_error", "thinking: Extra inputs are not permitted"),
        RequestRejected,
        "feature_refused",
        "thinking",
    ),
    (fail(418, "", "tea"), RequestRejected, "invalid_request", "tea"),
    (Reply(status=503, body=b"<html><p>We are <b>away</b></p></html>"), ModelBusy, "server_error", "We are away"),
    (
        Reply(status=307, body=b"", headers={"location": "http://127.0.0.1:9/v1"}),
        ModelUnavailable,
        "connection",
        "127.0.0.1:9",
    ),
]


async def test_a_no_is_typed_and_told_in_words(connect: Connect) -> None:
    with Loopback([reply for reply, *_ in NOS]) as server:
        adapter = connect(server)
        for reply, kind, category, words in NOS:
            error = await failure(adapter)
            assert type(error) is kind, reply
            assert (error.category, error.status) == (category, reply.status)
            assert words in str(error)
            assert error.request_id.startswith("req_")
            assert error.retry_after == (7 if "retry-after" in reply.headers else None)


@pytest.mark.parametrize(
    ("code", "kind"), [("enforced_spend_limit_reached", ModelUnavailable), ("something_else", ModelBusy)]
)
async def test_a_429_with_a_spend_code_is_final(code: str, kind: type[ModelError], connect: Connect) -> None:
    details = {"details": {"error_code": code}}
    with Loopback([Reply(status=429, type="rate_limit_error", message="stop", extra=details)]) as server:
        assert type(await failure(connect(server))) is kind


async def test_a_misspelt_model_gets_the_nearest_names(connect: Connect) -> None:
    with Loopback() as server:
        error = await failure(connect(server), model="claude-sonet-5-5")
    assert isinstance(error, ModelUnavailable)
    assert error.category == "model_not_found"
    assert "claude-sonnet-5-5" in str(error)


@pytest.mark.parametrize(("key", "words"), [("", "ANTHROPIC_API_KEY"), ("a b", "blanks"), ("schlüssel", "no key has")])
async def test_a_missing_or_impossible_key_is_told_without_a_request(key: str, words: str, connect: Connect) -> None:
    with Loopback() as server:
        error = await failure(connect(server, key=key))
    assert isinstance(error, ModelUnavailable)
    assert error.category == "authentication_failed"
    assert words in str(error)
    assert server.requests == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}", "https://127.0.0.1:{port}", "ftp://x", "nonsense", "http://["]
)
async def test_an_address_that_leads_nowhere_is_named(url: str, connect: Connect) -> None:
    error = await failure(connect(url.format(port=free_port())))
    assert isinstance(error, ModelUnavailable)
    assert error.category == "connection"
    assert "base URL" in str(error)


async def test_a_host_that_answered_before_and_is_gone_is_asked_again(connect: Connect) -> None:
    with Loopback([say("a")]) as server:
        adapter = connect(server)
        await answered(adapter, request())
    error = await failure(adapter)
    assert isinstance(error, ModelBusy)
    assert error.category == "connection"


async def test_a_page_in_place_of_a_stream_points_to_the_base_url(connect: Connect) -> None:
    with Loopback([Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"})]) as server:
        error = await failure(connect(server))
    assert isinstance(error, ModelUnavailable)
    assert "text/html" in str(error)


async def test_a_no_whose_body_breaks_off_is_asked_again(connect: Connect) -> None:
    half = Reply(status=400, body=b'{"type"', headers={"content-length": "999", "connection": "close"}, fault="reset")
    with Loopback([half]) as server:
        error = await failure(connect(server))
    assert isinstance(error, ModelBusy)
    assert error.category == "connection"


async def test_a_header_that_cannot_be_sent_is_told(connect: Connect) -> None:
    with Loopback([say("a")]) as server:
        error = await failure(connect(server, headers={"x-team": "one\ntwo"}))
    assert isinstance(error, RequestRejected)
    assert "headers" in str(error)


async def test_a_slow_reader_is_no_silent_server(connect: Connect) -> None:
    with Loopback([say("w" * 200)]) as server:
        async with aclosing(connect(server, quiet=0.6).stream(request())) as stream:
            assert isinstance(await anext(stream), TextDelta)
            until = asyncio.get_running_loop().time() + 0.8
            while asyncio.get_running_loop().time() < until:
                await asyncio.to_thread(server.left.wait, 0.05)
            *_, said = [event async for event in stream]
    assert said.text == "w" * 200


# --- streams that break ----------------------------------------------------------------------

BREAKS = [
    ("cut", "truncated"),
    ("reset", "connection"),
    ("error", "overloaded"),
    ("garble", "malformed"),
]


@pytest.mark.parametrize(("fault", "category"), BREAKS)
async def test_a_broken_stream_may_be_asked_again(fault: str, category: str, connect: Connect) -> None:
    broken = [say("words", fault=fault, at=at, type="overloaded_error", message="Overloaded") for at in range(5)]
    with Loopback(broken) as server:
        adapter = connect(server)
        for _ in broken:
            error = await failure(adapter)
            assert isinstance(error, ModelBusy)
            assert error.category == category
            assert "httpx" not in str(error)


@pytest.mark.parametrize(
    ("kind", "expected", "category"),
    [
        ("overloaded_error", ModelBusy, "overloaded"),
        ("api_error", ModelBusy, "server_error"),
        ("rate_limit_error", ModelBusy, "rate_limit"),
        ("timeout_error", ModelBusy, "timeout"),
        ("invalid_request_error", RequestRejected, "invalid_request"),
        ("authentication_error", ModelUnavailable, "authentication_failed"),
    ],
)
async def test_an_error_event_is_judged_by_its_type(
    kind: str, expected: type[ModelError], category: str, connect: Connect
) -> None:
    with Loopback([say("words", fault="error", at=3, type=kind, message="why")]) as server:
        error = await failure(connect(server))
    assert (type(error), error.category, error.status) == (expected, category, 0)


async def test_silence_ends_in_a_timeout(connect: Connect) -> None:
    with Loopback([say("words", fault="stall", at=2)]) as server:
        error = await failure(connect(server, read_timeout=0.2))
        assert server.left.wait(5)
    assert isinstance(error, ModelBusy)
    assert error.category == "timeout"


@pytest.mark.parametrize("fault", ["pings", "comments"])
async def test_signs_of_life_without_content_end_in_a_timeout(fault: str, connect: Connect) -> None:
    with Loopback([say("words", fault=fault, at=2)]) as server:
        error = await failure(connect(server, quiet=0.2))
        assert server.left.wait(5)
    assert isinstance(error, ModelBusy)
    assert error.category == "timeout"


async def test_slow_content_is_no_silence(connect: Connect) -> None:
    with Loopback([say("w" * 400, delay=0.1)]) as server:
        said = await answered(connect(server, quiet=1, read_timeout=1), request())
    assert said.text == "w" * 400
    assert said.took_ms > 1000


async def test_cancelling_closes_the_connection_at_once(connect: Connect) -> None:
    with Loopback([say("words", fault="stall", at=3)]) as server:
        seen: asyncio.Queue[Any] = asyncio.Queue()

        async def ask() -> None:
            async for event in connect(server).stream(request()):
                seen.put_nowait(event)

        task = asyncio.create_task(ask())
        assert await seen.get() == TextDelta("words")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 5)


async def test_leaving_a_stream_closes_the_connection(connect: Connect) -> None:
    with Loopback([say("words", fault="stall", at=3)]) as server:
        async with aclosing(connect(server).stream(request())) as stream:
            assert await anext(stream) == TextDelta("words")
        assert server.left.wait(5)


# --- headers ---------------------------------------------------------------------------------


async def test_the_key_goes_as_bearer_and_settings_add_headers(connect: Connect) -> None:
    with Loopback([say("a"), say("b")]) as server:
        await answered(connect(server), request())
        await answered(connect(server, headers={"x-api-key": KEY, "anthropic-version": "2023-06-01"}), request())
    plain, gateway = (seen.headers for seen in server.requests)
    assert plain["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in plain
    assert "anthropic-beta" not in plain
    assert "traceparent" not in plain
    assert (gateway["x-api-key"], gateway["anthropic-version"]) == (KEY, "2023-06-01")


async def test_a_redirect_does_not_carry_the_key_away(connect: Connect) -> None:
    with Loopback([say("stolen")]) as other:
        away = Reply(status=308, body=b"", headers={"location": f"{other.url}/v1/messages"})
        with Loopback([away]) as server:
            error = await failure(connect(server))
    assert isinstance(error, ModelUnavailable)
    assert other.requests == []


async def test_a_deprecated_model_is_asked_without_a_warning(connect: Connect) -> None:
    with Loopback([say("a")], models=["claude-sonnet-4-5"]) as server:
        said = await answered(connect(server), request(model="claude-sonnet-4-5", max_tokens=8192))
    assert said.text == "a"
    assert server.requests[0].headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert server.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 4096}


async def test_a_path_in_the_base_url_is_kept(connect: Connect) -> None:
    with Loopback([say("a")], strict=False) as server:
        await answered(connect(f"{server.url}/proxy/"), request())
    assert server.requests[0].path == "/proxy/v1/messages"


async def test_requests_at_the_same_time_share_a_client(connect: Connect) -> None:
    with Loopback(lambda body: say(body["messages"][0]["content"][0]["text"])) as server:
        adapter = connect(server)
        said = await asyncio.gather(*(answered(adapter, request(user(f"n{i}"))) for i in range(8)))
    assert [reply.text for reply in said] == [f"n{i}" for i in range(8)]
