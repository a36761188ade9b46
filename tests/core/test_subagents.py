"""Sub-agents on the stage: whose gate, whose limits, whose record; and who may start when."""

from __future__ import annotations

import asyncio

from codeagent.core.effects import Answer
from codeagent.core.events import AssistantSaid, Decided, Entry, Noted, Opened, Spent, Switched, TurnEnded, UserSaid
from codeagent.core.journal import Journal
from codeagent.core.messages import Text, ToolUse, Usage
from codeagent.core.starting import Starts
from codeagent.core.subagents import Parent, Subagent, inherited
from codeagent.core.toolset import Toolset
from codeagent.core.valves import Limits
from tests.core.stage import Numbers, Person, Replies, Reply, Stage, call, say


class Hired:
    """A sub-agent of the stage's agent, with the stage's tools and replies of its own."""

    def __init__(self, stage: Stage, *replies: Reply, steps: int = 0, above: Parent | None = None) -> None:
        self.model = Replies(*replies)
        self.tools = Toolset([stage.look, stage.change], lambda error, tool: f"{tool}: {error}")
        parent = above or Parent(stage.journal, self.model, stage.gate, stage.agent.valves, stage.clock, Numbers())
        opened: list[Entry] = [Opened("c", "/p", ("sub",), self.tools.schemas(), "m", 1000)]
        self.agent = Subagent(parent, "t1", "Look around", Journal(opened), steps)

    async def work(self, task: str = "look") -> TurnEnded:
        return await self.agent.work(self.tools, task)


async def test_what_it_spends_and_is_allowed_stands_above() -> None:
    stage = Stage()
    hired = Hired(stage, say("", call("1", "change")), say("Changed."))
    assert (await hired.work()).why == "done"
    assert hired.agent.words == "Changed."
    assert [(e.use_id, e.usage, e.cost) for e in stage.of(Spent)] == [("t1", Usage(100, 10), 0.01)] * 2
    assert stage.agent.meter.usage == Usage(200, 20)
    assert hired.agent.meter.usage == Usage(200, 20)
    (question,) = stage.person.permissions
    assert question.agent == "Look around"
    (decided,) = stage.of(Decided)
    assert decided.agent == "Look around"
    assert [e.agent for e in hired.agent.journal.entries if isinstance(e, Decided)] == [""]
    assert not stage.of(AssistantSaid)


async def test_a_mode_that_the_person_chooses_there_holds_everywhere() -> None:
    stage = Stage(person=Person(Answer("no")))
    hired = Hired(stage, say("", call("1", "change")), say("No."))
    stage.agent.switch(mode="acceptEdits")
    assert hired.agent.parent.gate.mode == "acceptEdits"
    hired.agent.parent.gate.mode = "default"
    assert stage.gate.mode == "default"
    await hired.work()
    assert "change" not in stage.change.ran


async def test_accepting_edits_in_a_sub_agent_is_on_the_record_of_the_session() -> None:
    stage = Stage()
    lent = stage.gate.lend("Look", Journal().append)
    lent._store(())
    assert [e.mode for e in stage.of(Switched)] == ["acceptEdits"]
    assert stage.agent.mode == "acceptEdits"


async def test_its_steps_are_its_own_and_the_tokens_are_everybodys() -> None:
    stage = Stage(limits=Limits(steps=1, tokens=250))
    short = Hired(stage, *[say("On.", call(str(n), answer=str(n))) for n in range(9)], steps=2)
    ended = await short.work()
    assert (ended.why, ended.valve, ended.steps) == ("valve", "steps", 2)
    assert stage.person.asked == [], "the agent above asks, when it comes to it"
    long = Hired(stage, *[say("On.", call(str(n), answer=str(n))) for n in range(9)], steps=9)
    ended = await long.work()
    assert (ended.valve, ended.steps) == ("tokens", 1)
    assert stage.agent.valves.closed(0, 0)


async def test_it_has_the_time_that_the_turn_has_left() -> None:
    stage = Stage(limits=Limits(seconds=60))
    assert stage.agent.valves.closed(1, 50.0) is None
    lent = stage.agent.valves.lend()
    assert lent.closed(0, 9.0) is None
    closed = lent.closed(0, 10.5)
    assert closed
    assert closed.valve == "seconds"


async def test_what_a_deeper_one_spends_counts_once_for_each_above() -> None:
    stage = Stage()
    outer = Hired(stage)
    inner = Hired(stage, say("In."), above=outer.agent.parent)
    inner.agent.parent.model = inner.model
    await inner.work()
    assert len(stage.of(Spent)) == 1
    assert outer.agent.meter.usage == inner.agent.meter.usage == stage.agent.meter.usage
    assert inner.agent.parent.level == 2


async def test_plan_mode_is_told_once() -> None:
    stage = Stage(mode="plan")
    hired = Hired(stage, say("", call("1")), say("Seen."))
    await hired.work()
    assert len([e for e in hired.agent.journal.entries if isinstance(e, Noted) and e.topic == "mode"]) == 1


async def test_a_cancelled_one_says_so_in_its_journal() -> None:
    stage = Stage()
    hired = Hired(stage, say("half", stop="interrupted"))
    work = asyncio.create_task(hired.work())
    await hired.model.hang.wait()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    last = hired.agent.journal.entries[-1]
    assert isinstance(last, TurnEnded)
    assert last.why == "interrupted"


def test_a_fork_knows_what_was_known_before_the_reply_that_called_it() -> None:
    said = UserSaid((Text("go"),))
    reply = AssistantSaid((ToolUse("t9", "task", {}),))
    assert inherited([said, reply, Noted("later")], "t9") == [said]
    assert inherited([said], "t9") == [said]


async def test_the_first_of_one_prefix_starts_before_the_others() -> None:
    starts, order = Starts(), []
    words = asyncio.Event()

    async def start(name: str, prefix: str) -> None:
        async with starts.turn(prefix) as begun:
            order.append(name)
            if name == "first":
                await words.wait()
                order.append("words")
                begun()
                await asyncio.sleep(0)

    tasks = [asyncio.create_task(start(*each)) for each in (("first", "p"), ("second", "p"), ("other", "q"))]
    while "other" not in order:
        await asyncio.sleep(0)
    assert order == ["first", "other"]
    words.set()
    await asyncio.gather(*tasks)
    assert order == ["first", "other", "words", "second"]


async def test_a_first_one_that_fails_holds_nobody() -> None:
    starts = Starts()

    async def fail() -> None:
        async with starts.turn("p"):
            await asyncio.sleep(0)
            raise ValueError

    async def follow() -> str:
        async with starts.turn("p"):
            return "went"

    failed, went = await asyncio.gather(fail(), follow(), return_exceptions=True)
    assert isinstance(failed, ValueError)
    assert went == "went"


async def test_ten_at_once_on_each_level() -> None:
    starts = Starts()
    running = most = 0

    async def one() -> None:
        nonlocal running, most
        async with starts.place(1):
            running += 1
            most = max(most, running)
            async with starts.place(2):
                await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*[one() for _ in range(30)])
    assert most == 10
