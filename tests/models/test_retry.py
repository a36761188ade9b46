"""Retries: visible, bounded, cancellable, and never half of two replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from codeagent.core.errors import ModelBusy, ModelError, ModelUnavailable
from codeagent.core.events import AssistantSaid, Retried, TextDelta
from codeagent.core.messages import Request, Text
from codeagent.core.ports import ModelInfo
from codeagent.models.anthropic import Anthropic
from codeagent.models.retry import Retrying
from tests.loopback import Loopback, fail, say
from tests.models.kit import heard, request

Step = str | ModelError


class Recited:
    """A model that says one item of a list for each attempt: words, or an error after some words."""

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self.asked: list[Request] = []
        self.closed = 0

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, model, 1, 1)

    async def stream(self, asked: Request) -> AsyncIterator[Any]:
        self.asked.append(asked)
        step = self._steps.pop(0)
        try:
            yield TextDelta("some")
            if isinstance(step, ModelError):
                raise step
            yield AssistantSaid((Text(step),))
        finally:
            self.closed += 1


def patient(inner: Any, **fields: Any) -> tuple[Retrying, list[float]]:
    """A Retrying that notes its waits and takes no time."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Retrying(inner, sleep=sleep, random=lambda: 0.0, **fields), waits


async def test_the_whole_request_is_made_again_and_each_wait_is_told() -> None:
    busy = ModelBusy("The model is overloaded.", category="overloaded", status=529)
    inner = Recited(busy, busy, "done")
    model, waits = patient(inner)
    got = await heard(model, request())
    told = "The model is overloaded."
    assert got == [
        TextDelta("some"),
        Retried(2, 6, 0.5, told, "overloaded", 529),
        TextDelta("some"),
        Retried(3, 6, 1.0, told, "overloaded", 529),
        TextDelta("some"),
        AssistantSaid((Text("done"),)),
    ]
    assert waits == [0.5, 1.0]
    assert inner.asked == [request()] * 3
    assert inner.closed == 3


async def test_waits_grow_to_a_limit_and_vary_by_chance() -> None:
    inner = Recited(*[ModelBusy("busy")] * 9, "done")
    model, waits = patient(inner, attempts=10)
    await heard(model, request())
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    early: list[float] = []

    async def sleep(seconds: float) -> None:
        early.append(seconds)

    await heard(Retrying(Recited(ModelBusy("busy"), "done"), sleep=sleep, random=lambda: 1.0), request())
    assert early == [0.375]


async def test_it_gives_up_with_the_last_error() -> None:
    model, waits = patient(Recited(*[ModelBusy("Busy.", category="rate_limit", status=429)] * 3), attempts=3)
    with pytest.raises(ModelBusy, match=r"Busy\. Given up after 3 attempts") as caught:
        await heard(model, request())
    assert (caught.value.category, caught.value.status) == ("rate_limit", 429)
    assert len(waits) == 2


async def test_the_servers_wish_is_obeyed_up_to_a_cap() -> None:
    model, waits = patient(Recited(ModelBusy("busy", retry_after=59.5), ModelBusy("busy", retry_after=0), "done"))
    await heard(model, request())
    assert waits == [59.5, 0]
    model, waits = patient(Recited(ModelBusy("Busy.", retry_after=3600)))
    with pytest.raises(ModelBusy, match="wait 3600 s"):
        await heard(model, request())
    assert waits == []


async def test_what_cannot_pass_is_raised_at_once() -> None:
    inner = Recited(ModelUnavailable("no key"), "done")
    model, waits = patient(inner)
    with pytest.raises(ModelUnavailable):
        await heard(model, request())
    assert (len(inner.asked), waits) == (1, [])


async def test_a_wait_can_be_cancelled() -> None:
    inner = Recited(ModelBusy("busy"), "done")
    waiting = asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(heard(Retrying(inner, sleep=sleep), request()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(inner.asked) == 1


async def test_leaving_closes_the_stream_inside() -> None:
    inner = Recited("done")
    stream = patient(inner)[0].stream(request())
    await anext(stream)
    await stream.aclose()
    assert inner.closed == 1


async def test_over_the_wire_it_waits_as_long_as_the_server_asks(connect: Callable[..., Anthropic]) -> None:
    replies = [
        fail(429, "rate_limit_error", "slow", retry_after_ms="30"),
        say("void", fault="reset", at=3),
        say("void", fault="cut", at=4),
        say("kept"),
    ]
    with Loopback(replies) as server:
        model, waits = patient(connect(server))
        got = await heard(model, request())
    assert got[-1].text == "kept"
    assert [event.category for event in got if isinstance(event, Retried)] == ["rate_limit", "connection", "truncated"]
    assert waits == [0.03, 1.0, 2.0]
    assert server.bodies[0] == server.bodies[3]
