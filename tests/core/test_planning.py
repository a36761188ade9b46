"""Plan mode as the model hears of it: once, in time, and by whom a plan can be approved."""

from __future__ import annotations

from codeagent.core.agent import PLAN_ALONE, PLAN_OFF, PLAN_ON
from codeagent.core.events import Compacted, Noted
from tests.core.stage import Person, Stage, say


def told(stage: Stage) -> list[str]:
    """What the model was told of the mode, in order."""
    return [note.text for note in stage.of(Noted) if note.topic == "mode"]


async def test_a_session_that_begins_in_plan_mode_is_told_so_once() -> None:
    stage = Stage(say("a"), say("b"), mode="plan")
    await stage.agent.say("one")
    await stage.agent.say("two")
    assert told(stage) == [PLAN_ON]
    assert PLAN_ON in str(stage.model.asked[0].messages)


async def test_going_round_the_modes_tells_only_what_holds_when_it_is_asked() -> None:
    stage = Stage(say("a"), say("b"), say("c"))
    for _ in range(3):
        stage.agent.cycle_mode()
    await stage.agent.say("one")
    assert told(stage) == []
    stage.agent.switch(mode="plan")
    await stage.agent.say("two")
    stage.agent.switch(mode="acceptEdits")
    await stage.agent.say("three")
    assert told(stage) == [PLAN_ON, PLAN_OFF]


async def test_where_nobody_can_approve_the_plan_is_the_answer() -> None:
    stage = Stage(say("1. Do it"), person=Person(attended=False), mode="plan")
    await stage.agent.say("plan")
    assert told(stage) == [PLAN_ALONE]


async def test_it_is_told_again_after_a_compaction_and_in_a_resumed_session() -> None:
    stage = Stage(say("a"), say("b"), mode="plan")
    await stage.agent.say("one")
    resumed = Stage(say("b"), say("c"), entries=stage.journal.entries)
    await resumed.agent.say("two")
    assert told(resumed) == [PLAN_ON]
    resumed.journal.append(Compacted("so far", len(resumed.journal.entries)))
    await resumed.agent.say("three")
    assert told(resumed) == [PLAN_ON, PLAN_ON]
