"""Requests rebuilt from entries alone: equal to what was sent, quick, and the first difference named."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from codeagent.core.events import Asked, AssistantSaid, Compacted, Entry, Rewound, Switched, ToolFinished
from codeagent.core.messages import Text, Thinking, ToolSchema, Usage
from codeagent.core.valves import Limits
from codeagent.sessions import codec
from codeagent.sessions.inspection import exchange, exchanges
from codeagent.sessions.replay import rebuild, replay
from codeagent.sessions.resending import edited
from tests.core.stage import Stage, call, say


async def played(steps: int = 3) -> list[Entry]:
    """A turn with this many steps, each with a call."""
    replies = [say(f"step {n}", call(f"t{n}", answer=f"{n} " * 200)) for n in range(steps)]
    stage = Stage(*replies, limits=Limits(steps=steps + 5, tokens=10**9))
    await stage.agent.say("go")
    assert [rebuilt.request for rebuilt in rebuild(stage.journal.entries)] == stage.model.asked
    return stage.journal.entries


def change(entries: list[Entry], kind: type[Entry], **fields: object) -> list[Entry]:
    """The same entries with the first of this kind changed."""
    at = next(i for i, entry in enumerate(entries) if isinstance(entry, kind))
    return [*entries[:at], replace(entries[at], **fields), *entries[at + 1 :]]


async def test_two_hundred_steps_in_less_than_two_seconds() -> None:
    entries = await played(200)
    began = time.process_time()  # the machine may be busy with other tests
    found = replay(entries)
    assert time.process_time() - began < 2
    assert (found.requests, found.differences) == (201, ())


@pytest.mark.parametrize(
    ("kind", "fields", "part", "number"),
    [
        (ToolFinished, {"blocks": (Text("other"),)}, "messages.2.content.0", 2),
        (AssistantSaid, {"blocks": (Text("other"), call("t0"))}, "messages.1.content.0", 2),
        (Asked, {"system": "0" * 64, "digest": "0" * 64}, "system", 1),
        (Asked, {"messages": 7, "digest": "0" * 64}, "messages", 1),
        (Asked, {"model": "other", "digest": "0" * 64}, "model", 1),
        (Asked, {"tail": (), "digest": "0" * 64}, "an earlier message, or a part that is not recorded by itself", 1),
    ],
)
async def test_the_first_difference_has_a_name(
    kind: type[Entry], fields: dict[str, object], part: str, number: int
) -> None:
    found = replay(change(await played(), kind, **fields))
    assert (found.differences[0].part, found.differences[0].number) == (part, number)


async def test_a_compaction_is_rebuilt_with_what_was_to_be_kept_in_view() -> None:
    replies = [say("", call(str(n), answer="x" * 50)) for n in range(6)]
    stage = Stage(*replies, say("ready"), say("The summary."), say("on we go"))
    await stage.agent.say("go")
    assert await stage.agent.compact("the cart")
    await stage.agent.say("more")
    entries = stage.journal.entries
    assert any(isinstance(e, Compacted) for e in entries)
    assert [e.focus for e in entries if isinstance(e, Asked) and e.purpose == "compaction"] == ["the cart"]
    assert replay(entries).differences == ()
    assert replay(change(entries, Asked, focus="")).differences == ()
    summed = next(each for each in exchanges(entries) if each.asked.purpose == "compaction")
    assert summed.summary is not None
    assert (summed.kept, summed.reply) == (13, None)


async def test_rewinds_and_switches_are_rebuilt() -> None:
    stage = Stage(*(say(f"reply {n}") for n in range(4)))
    await stage.agent.say("one")
    mark = len(stage.journal.entries)
    await stage.agent.say("two")
    stage.journal.append(Rewound(mark))
    stage.journal.append(Switched(effort="high", without=("effort",)))
    await stage.agent.say("three")
    assert replay(stage.journal.entries).differences == ()


async def test_what_a_request_says_of_its_blocks_survives_the_log() -> None:
    asked = next(e for e in await played() if isinstance(e, Asked))
    assert len(asked.tail) == 1
    assert codec.decode(codec.encode(5, 1, asked)).entry == asked


async def test_an_exchange_says_what_was_new() -> None:
    entries = await played(2)
    first, second, third = exchanges(entries)
    assert (first.kept, len(first.fresh)) == (0, 1)
    assert (second.kept, len(second.fresh), second.changed, second.same) == (1, 2, (), True)
    assert third.reply is not None
    assert third.reply.stop == "end_turn"
    assert exchange(entries) == third


def test_an_edit_drops_reasoning_that_no_longer_fits() -> None:
    from codeagent.core.conversation import request
    from codeagent.core.events import Opened, UserSaid

    thought = AssistantSaid((Thinking("hm", "sig"), Text("yes")), usage=Usage(1, 1))
    asked = request([Opened("s", "/p", ("sys",), (), "m", 10), UserSaid((Text("a"),)), thought, UserSaid((Text("b"),))])
    assert edited(asked, message="c").messages[1] == asked.messages[1]
    assert edited(asked, message="c").messages[2].blocks == (Text("c"),)
    other = edited(asked, system="other", tools=[ToolSchema("t", "", {"type": "object"})])
    assert other.messages[1].blocks == (Text("yes"),)
    assert (other.system, [tool.name for tool in other.tools]) == (("other",), ["t"])
    assert edited(asked) == asked
