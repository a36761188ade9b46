"""Conversations with a model: requests by hand, and a real agent around any model."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.agent import Agent, Outside
from codeagent.core.events import AssistantSaid, Entry, Event, Opened
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Block, Message, Request, Text, ToolResult
from codeagent.core.path_patterns import Anchors
from codeagent.core.ports import Model
from codeagent.core.rules import Rules
from codeagent.core.toolset import Toolset
from codeagent.core.valves import Limits
from tests.core.stage import Change, Look, Numbers, Person, Ticks


def asked(*turns: str | Message) -> Request:
    """A request of these turns; a bare text is the person's."""
    messages = tuple(Message("user", (Text(turn),)) if isinstance(turn, str) else turn for turn in turns)
    return Request("m", ("sys",), (), messages, 1000)


def answered(said: AssistantSaid, *results: str, error: bool = False, words: str = "") -> tuple[Message, Message]:
    """The reply and the user's side after it: results in the order of the calls, then words."""
    blocks: list[Block] = [
        ToolResult(use.id, (Text(text),), error) for use, text in zip(said.uses, results, strict=True)
    ]
    return Message("assistant", said.blocks), Message("user", (*blocks, *([Text(words)] if words else [])))


async def heard(model: Model, request: Request) -> list[Event]:
    return [event async for event in model.stream(request)]


async def reply(model: Model, request: Request) -> AssistantSaid:
    said = (await heard(model, request))[-1]
    assert isinstance(said, AssistantSaid)
    return said


def agent(model: Model, person: Person | None = None, entries: Sequence[Entry] = ()) -> Agent:
    """A real agent with the tools `look` and `change` and the clock and ids of the stage."""
    person = person or Person()
    tools = Toolset([Look(), Change()], lambda error, tool: f"{tool}: {error}")
    journal = Journal(entries or [Opened("s", "/p", ("sys",), tools.schemas(), "m", 1000)])
    journal.watch(person.see)
    gate = Gate(
        person,
        journal.append,
        lambda: Rules((), Anchors("/p", "/h", "/p")),
        lambda rule: "settings.local.json:1",
        "default",
    )
    return Agent(journal, model, tools, gate, Limits(), Outside(Ticks(), Numbers(), person))
