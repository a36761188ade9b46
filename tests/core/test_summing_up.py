"""Summing up: what a person is asked, what may be changed, and what no compaction may lose."""

from __future__ import annotations

from hypothesis import given, settings

from codeagent.core import compaction
from codeagent.core.conversation import live, request
from codeagent.core.effects import Answer, AskSummary, AskValve
from codeagent.core.events import AssistantSaid, Compacted, Entry, Noted, TurnEnded, UserSaid
from codeagent.core.messages import Note, Text, Usage
from codeagent.core.ports import ModelInfo
from codeagent.core.valves import Limits
from tests.core.stage import Person, Stage, call, say
from tests.core.test_conversation import SMALL, histories, problems


def open_requests(entries: list[Entry]) -> list[str]:
    """What the user said since the last turn that was done."""
    said: list[str] = []
    for entry in (entries[p] for p in live(entries)):
        if isinstance(entry, TurnEnded) and entry.why == "done":
            said.clear()
        elif isinstance(entry, UserSaid) and entry.text.strip():
            said.append(entry.text)
    return said


@settings(max_examples=300)
@given(histories())
def test_after_any_compaction_the_request_is_valid_and_holds_every_open_request(entries: list[Entry]) -> None:
    cut = compaction.plan(entries, SMALL, compaction.Policy())
    if cut is None:
        return
    reply = AssistantSaid((Text("Sum."),))
    made = compaction.outcome(cut, reply, SMALL, "manual", ("A note.",))
    asked = request([*entries, made])
    assert problems(asked.messages) == []
    words = "\n".join(b.text for m in asked.messages for b in m.blocks if isinstance(b, Text))
    for wanted in open_requests(entries):
        assert wanted in words


def talked(*replies: AssistantSaid, person: Person | None = None) -> Stage:
    """A stage on which five steps can be summed up."""
    steps = [say("", call(str(n), answer=f"{n}" * 50)) for n in range(5)]
    return Stage(*steps, say("done"), *replies, person=person)


async def test_a_person_is_asked_first_and_shown_the_summary() -> None:
    stage = talked(say("1. Goal: fix it."))
    await stage.agent.say("fix it")
    assert await stage.agent.compact("the tests")
    before, after = stage.person.asked
    assert isinstance(before, AskValve)
    assert "the tests" in before.words
    assert isinstance(after, AskSummary)
    assert "Goal: fix it" in after.summary
    assert len(stage.of(Compacted)) == 1


async def test_a_no_costs_nothing() -> None:
    stage = talked(say("never asked for"), person=Person(Answer("no")))
    await stage.agent.say("fix it")
    asked = len(stage.model.asked)
    assert not await stage.agent.compact()
    assert len(stage.model.asked) == asked
    assert "as you wished" in stage.of(Noted)[-1].text


async def test_the_summary_can_be_rewritten_but_open_requests_stay() -> None:
    steps = [say("", call(str(n), answer=f"{n}" * 50)) for n in range(6)]
    person = Person(Answer("no"), Answer("yes"), Answer("yes", "My own words."))
    stage = Stage(*steps, say("Sum."), person=person, limits=Limits(steps=6))
    await stage.agent.say("fix the blue door")  # stopped by the valve: still open
    assert await stage.agent.compact()
    cut = stage.of(Compacted)[0]
    assert cut.summary.startswith("My own words.")
    assert "fix the blue door" in cut.summary


async def test_a_summary_that_is_declined_leaves_all_as_it_was() -> None:
    stage = talked(say("Sum."), person=Person(Answer("yes"), Answer("no")))
    await stage.agent.say("fix it")
    assert not await stage.agent.compact()
    assert not stage.of(Compacted)


async def test_plan_mode_survives() -> None:
    stage = talked(say("Sum."))
    await stage.agent.say("fix it")
    stage.agent.switch(mode="plan")
    assert await stage.agent.compact()
    await stage.agent.say("go on")
    words = "\n".join(b.text for m in stage.model.asked[-1].messages for b in m.blocks if isinstance(b, Note))
    assert "Plan mode is on" in words


INFO = ModelInfo("m", "m", 1000, 100)


def test_after_a_failure_it_waits_before_it_tries_again() -> None:
    full: list[Entry] = [UserSaid((Text("x"),)), AssistantSaid((), usage=Usage(input=990))]
    assert compaction.due(full, INFO, compaction.Policy())
    failed = [*full, Noted("no", topic=compaction.FAILED, to="person"), full[1]]
    assert not compaction.due(failed, INFO, compaction.Policy())
    assert compaction.due([*failed, *[full[1]] * compaction.PAUSE], INFO, compaction.Policy())
    assert not compaction.due([*full, Compacted("s", 1, after_tokens=990)], INFO, compaction.Policy())
