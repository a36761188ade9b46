"""Faults on demand: the named request breaks in the named way, the others do not."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ModelBusy, UsageFault
from codeagent.core.events import AssistantSaid, Event, TextDelta
from codeagent.models.faulty import Fault, Faulty, plan
from codeagent.models.scripted import Scripted
from tests.models.talks import asked, heard

SCRIPT = "say " + "word " * 30


async def listen(model: Faulty) -> tuple[list[Event], ModelBusy | None]:
    events: list[Event] = []
    try:
        async for event in model.stream(asked("hi")):
            events.append(event)  # noqa: PERF401  what came before the failure counts
    except ModelBusy as fault:
        return events, fault
    return events, None


def test_a_plan_is_read() -> None:
    assert plan("1=busy, 2-3=rate,4=drop@40") == (Fault(1, 1, "busy"), Fault(2, 3, "rate"), Fault(4, 4, "drop", 40))


@pytest.mark.parametrize("text", ["", "busy", "1=tired", "x=busy", "1=busy,,", "1=drop@"])
def test_a_plan_at_fault_names_the_part(text: str) -> None:
    with pytest.raises(UsageFault, match="is no fault"):
        plan(text)


@pytest.mark.parametrize(
    ("kind", "category", "status"),
    [
        ("busy", "overloaded", 529),
        ("rate", "rate_limit", 429),
        ("error", "server_error", 500),
        ("drop", "connection", 0),
        ("cut", "truncated", 0),
        ("stall", "timeout", 0),
    ],
)
async def test_each_kind_looks_like_the_real_thing(kind: str, category: str, status: int) -> None:
    model = Faulty(Scripted(SCRIPT), plan(f"2={kind}"), stall=0.01)
    assert (await listen(model))[1] is None
    events, fault = await listen(model)
    assert fault is not None
    assert (fault.category, fault.status) == (category, status)
    assert events == []
    assert (await listen(model))[1] is None


async def test_a_fault_in_the_middle_comes_after_some_words() -> None:
    events, fault = await listen(Faulty(Scripted(SCRIPT), plan("1=cut@40")))
    assert fault is not None
    words = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert 40 <= len(words) < 70
    assert not any(isinstance(e, AssistantSaid) for e in events)


async def test_a_fault_beyond_the_end_still_comes() -> None:
    events, fault = await listen(Faulty(Scripted("say short"), plan("1=drop@999")))
    assert fault is not None
    assert events == [TextDelta("short")]


async def test_a_range_breaks_all_of_it() -> None:
    model = Faulty(Scripted(SCRIPT), plan("1-2=busy"))
    assert [bool((await listen(model))[1]) for _ in range(3)] == [True, True, False]
    assert model.info("m").short == "recorded"
    assert isinstance((await heard(model, asked("hi")))[-1], AssistantSaid)
