"""Recorded streams and errors, through a real server and the real SDK, in pieces of any size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import ModelBusy, ModelError, ModelUnavailable, RequestRejected
from codeagent.core.events import AssistantSaid, Raw, TextDelta, ThinkingDelta
from codeagent.core.messages import Text, Thinking
from codeagent.models.accumulator import Accumulator, Outcome
from codeagent.models.anthropic import Anthropic
from codeagent.models.said import to_said
from tests.loopback import Loopback, Reply, stream
from tests.models.kit import CASES, heard, request

Connect = Callable[..., Anthropic]
STREAMS = sorted(p.stem for p in CASES.glob("*.sse") if not p.stem.startswith("oai-"))
ERRORS = sorted(p.name.removesuffix(".response.json") for p in CASES.glob("*.response.json"))


def expected(name: str) -> Any:
    return json.loads((CASES / f"{name}.expected.json").read_text())


def recorded(name: str) -> bytes:
    return (CASES / f"{name}.sse").read_bytes()


def parsed(data: bytes) -> Outcome:
    """The same stream, read by a few lines that share nothing with the SDK."""
    accumulator = Accumulator()
    for frame in data.decode().split("\n\n"):
        lines = [line[5:].strip() for line in frame.splitlines() if line.startswith("data:")]
        try:
            event = json.loads("\n".join(lines))
        except ValueError:
            continue
        accumulator.feed(event)
    return accumulator.finish()


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_the_expected_message(name: str) -> None:
    want = expected(name)
    outcome = parsed(recorded(name))
    assert outcome.ended == want["outcome"]
    assert outcome.message == want["message"]
    assert {str(k): v for k, v in outcome.unusable.items()} == want.get("unusable_tool_inputs", {})
    assert list(outcome.unclosed) == want.get("unclosed_blocks", [])
    assert outcome.error == want.get("error", {})


Heard = tuple[list[Any], ModelError | None]


async def through_sdk(connect: Connect, *replies: Reply) -> list[Heard]:
    """What comes of each reply, asked for one after the other over one adapter."""
    with Loopback(replies) as server:
        adapter = connect(server, raw=True)
        return [await one_of(adapter) for _ in replies]


async def one_of(adapter: Anthropic) -> Heard:
    got: list[Any] = []
    try:
        async for event in adapter.stream(request()):
            got.append(event)  # noqa: PERF401 - what came before an error must stay
    except ModelError as error:
        return got, error
    return got, None


def checked(name: str, got: list[Any], error: ModelError | None) -> None:
    want = expected(name)
    accumulator = Accumulator()
    for event in got:
        if isinstance(event, Raw):
            accumulator.feed(event.event)
    outcome = accumulator.finish()
    assert outcome.message == want["message"]
    if want["outcome"] == "complete":
        assert error is None
        assert [type(event) for event in got].count(AssistantSaid) == 1
        said = got[-1]
        same = to_said(outcome, model="claude-sonnet-5-5")
        assert (said.blocks, said.stop, said.usage, said.cut) == (same.blocks, same.stop, same.usage, same.cut)
    else:
        assert isinstance(error, ModelBusy)
        assert error.category == {"truncated_stream": "truncated", "stream_error": "server_error"}[want["outcome"]]


@pytest.mark.parametrize("pieces", [0, 7, 4096])
async def test_the_sdk_gives_the_same_in_any_pieces(pieces: int, connect: Connect) -> None:
    names = [n for n in STREAMS if n != "made-eof-mid-event" and (pieces != 7 or len(recorded(n)) < 4000)]
    results = await through_sdk(connect, *(stream(recorded(name), pieces) for name in names))
    for name, (got, error) in zip(names, results, strict=True):
        checked(name, got, error)


@pytest.mark.parametrize("name", ["text-basic", "programmatic-tool-calling-3", "compaction-delta"])
async def test_the_sdk_gives_the_same_byte_by_byte(name: str, connect: Connect) -> None:
    [(got, error)] = await through_sdk(connect, stream(recorded(name), 1))
    checked(name, got, error)


async def test_a_body_that_ends_inside_an_event_is_asked_again(connect: Connect) -> None:
    [(_, error)] = await through_sdk(connect, stream(recorded("made-eof-mid-event")))
    assert isinstance(error, ModelBusy)
    assert error.category in ("truncated", "malformed")


@pytest.mark.parametrize("name", ["text-then-tool-use", "thinking-signature-text", "refusal-with-server-tool"])
async def test_a_stream_cut_after_any_event_is_never_a_reply(name: str, connect: Connect) -> None:
    frames = recorded(name).decode().split("\n\n")[:-1]
    cuts = ["".join(f"{frame}\n\n" for frame in frames[:end]) for end in range(len(frames) + 1)]
    results = await through_sdk(connect, *(stream(cut.encode() or b": nothing\n\n") for cut in cuts))
    for cut, (got, error) in zip(cuts, results, strict=True):
        assert (error is None) == ("message_stop" in cut), cut
        if error:
            assert isinstance(error, ModelBusy)
            assert error.category == "truncated"
            assert not [event for event in got if isinstance(event, AssistantSaid)]


async def test_what_was_shown_is_what_was_said(connect: Connect) -> None:
    names = [name for name in STREAMS if expected(name)["outcome"] == "complete"]
    for got, error in await through_sdk(connect, *(stream(recorded(name)) for name in names)):
        assert error is None
        said = got[-1]
        shown = "".join(event.text for event in got if isinstance(event, TextDelta))
        assert shown == "".join(block.text for block in said.blocks if isinstance(block, Text))
        thought = "".join(event.text for event in got if isinstance(event, ThinkingDelta))
        assert thought == "".join(block.text for block in said.blocks if isinstance(block, Thinking))


ERROR_KINDS: dict[str, tuple[type[ModelError], str, str]] = {
    "err-effort-unsupported": (RequestRejected, "feature_refused", "effort"),
    "err-model-misspelt": (ModelUnavailable, "model_not_found", ""),
    "err-tool-reference-missing": (RequestRejected, "invalid_request", ""),
    "err-tool-result-server-id": (RequestRejected, "invalid_request", ""),
    "err-tool-use-without-result": (RequestRejected, "invalid_request", ""),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_is_typed(name: str, connect: Connect) -> None:
    case = json.loads((CASES / f"{name}.response.json").read_text())
    kind, category, feature = ERROR_KINDS[name]
    reply = Reply(status=case["status"], body=json.dumps(case["body"]).encode())
    with Loopback([reply]) as server, pytest.raises(kind) as caught:
        await heard(connect(server), request(effort="high"))
    assert type(caught.value) is kind
    assert (caught.value.category, caught.value.feature) == (category, feature)
    assert caught.value.status == case["status"]
    assert case["body"]["error"]["message"] in str(caught.value)


def test_every_case_is_described() -> None:
    text = (Path(CASES) / "README.md").read_text()
    assert not [name for name in (*STREAMS, *ERRORS) if f"| {name} |" not in text]
