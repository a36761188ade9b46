"""A stage for the loop: replies in a row, tools that do what they are told, a person who answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from codeagent.core.agent import Agent, Outside
from codeagent.core.effects import Answer, AskPermission, AskUser, AskValve, Effect, Permit, Question, Risk, Touch
from codeagent.core.errors import ModelError, ToolFault
from codeagent.core.events import AssistantSaid, Delta, Entry, Event, Opened, Retried, Stop, TextDelta, ToolFinished
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Request, Text, ToolUse, Usage
from codeagent.core.path_patterns import Anchors
from codeagent.core.ports import ModelInfo, Progress, Result, Snapshots, Tool
from codeagent.core.rules import Rules, parse
from codeagent.core.toolset import Toolset
from codeagent.core.valves import Limits
from codeagent.core.views import Plain

ANCHORS = Anchors("/p", "/home/someone", "/p")


def rules(*, allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = ()) -> Rules:
    """Rules written in `settings.json`, each on its own line."""
    written = [("allow", t) for t in allow] + [("ask", t) for t in ask] + [("deny", t) for t in deny]
    return Rules([parse(text, kind, f"settings.json:{n}") for n, (kind, text) in enumerate(written, 1)], ANCHORS)  # type: ignore[arg-type]  # kinds as above


Reply = AssistantSaid | ModelError | Callable[[Request], AssistantSaid]


def say(
    text: str, *uses: ToolUse, stop: Stop | None = None, usage: Usage | None = None, cut: tuple[str, ...] = ()
) -> AssistantSaid:
    """A reply with words and calls."""
    blocks = ((Text(text),) if text else ()) + uses
    return AssistantSaid(
        blocks, stop or ("tool_use" if uses else "end_turn"), usage or Usage(100, 10), cut=cut, cost=0.01
    )


def call(id_: str, tool: str = "look", **given: Any) -> ToolUse:
    return ToolUse(id_, tool, given)


class Replies:
    """A model that gives these replies in a row and keeps what it was asked."""

    def __init__(self, *replies: Reply, window: int = 200_000) -> None:
        self._replies = list(replies)
        self._window = window
        self.asked: list[Request] = []
        self.hang = asyncio.Event()

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, model, self._window, 64_000)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Retried | AssistantSaid]:
        self.asked.append(request)
        reply = self._replies.pop(0) if self._replies else say("That is all.")
        if isinstance(reply, ModelError):
            raise reply
        if not isinstance(reply, AssistantSaid):
            reply = reply(request)
        for block in reply.blocks:
            if isinstance(block, Text):
                yield TextDelta(block.text)
        if reply.stop == "interrupted":
            self.hang.set()
            await asyncio.Event().wait()
        yield reply


class Look:
    """Reads nothing, takes `seconds`, gives `answer`."""

    name: ClassVar[str] = "look"
    description: ClassVar[str] = "Look."
    timeout: ClassVar[float] = 30.0
    risk: ClassVar[Risk] = Risk.LOW
    access: ClassVar[str] = "read"

    class Input(BaseModel):
        answer: str = "seen"
        seconds: float = 0.0
        fault: str = ""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.running = 0
        self.most = 0
        self.ended = 0

    async def plan(self, args: Input) -> Effect:
        if args.fault == "plan":
            raise ToolFault("plan says no")
        touch = Touch("/p/a", "write" if self.access == "write" else "read", "inside")
        return Effect(self.name, args.answer, f"Look at {args.answer}", self.risk, Plain(args.answer), (touch,))

    async def run(self, args: Input, permit: Permit) -> AsyncIterator[Progress | Result]:
        self.running += 1
        self.most = max(self.most, self.running)
        self.ran.append(args.answer)
        try:
            yield Progress("working")
            if args.seconds:
                await asyncio.sleep(args.seconds)
            if args.fault == "bug":
                raise RuntimeError("a bug in a tool")
            if args.fault == "fault":
                raise ToolFault("it cannot be done")
            yield Result.of(args.answer, summary="ok")
        finally:
            self.running -= 1
            self.ended += 1


class Change(Look):
    """The same with an effect on the project."""

    name: ClassVar[str] = "change"
    risk: ClassVar[Risk] = Risk.MEDIUM
    access: ClassVar[str] = "write"


class Person:
    """A front: sees everything, answers from a list, then yes."""

    def __init__(self, *answers: Answer, attended: bool = True) -> None:
        self.attended = attended
        self._answers = list(answers)
        self.seen: list[Event] = []
        self.asked: list[Question] = []

    def see(self, event: Event) -> None:
        self.seen.append(event)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        await asyncio.sleep(0)
        return self._answers.pop(0) if self._answers else Answer("yes")

    @property
    def permissions(self) -> list[AskPermission]:
        return [q for q in self.asked if isinstance(q, AskPermission)]

    @property
    def valves(self) -> list[AskValve]:
        return [q for q in self.asked if isinstance(q, AskValve)]

    @property
    def questions(self) -> list[AskUser]:
        return [q for q in self.asked if isinstance(q, AskUser)]


class Ticks:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Numbers:
    """Ids in a row."""

    def __init__(self) -> None:
        self._next = 0

    def new(self, prefix: str) -> str:
        self._next += 1
        return f"{prefix}_{self._next}"


class Stage:
    """An agent with everything around it at hand."""

    def __init__(
        self,
        *replies: Reply,
        person: Person | None = None,
        limits: Limits | None = None,
        rules: Rules | None = None,
        mode: str = "default",
        entries: Sequence[Entry] = (),
        window: int = 200_000,
        snapshots: Snapshots | None = None,
        tools: Sequence[Tool[Any]] = (),
    ) -> None:
        self.person = person or Person()
        self.model = Replies(*replies, window=window)
        self.look, self.change = Look(), Change()
        self.clock = Ticks()
        self.rules = rules or Rules((), ANCHORS)
        self.stored: list[str] = []
        toolset = Toolset([self.look, self.change, *tools], lambda error, tool: f"{tool}: {error}")
        self.journal = Journal(entries or [Opened("s", "/p", ("sys",), toolset.schemas(), "m", 1000, mode=mode)])
        self.journal.watch(self.person.see)
        self.gate = Gate(self.person, self.journal.append, lambda: self.rules, self._remember, mode)
        self.agent = Agent(
            self.journal,
            self.model,
            toolset,
            self.gate,
            limits or Limits(),
            Outside(self.clock, Numbers(), self.person, snapshots=snapshots),
        )

    def _remember(self, rule: str) -> str:
        self.stored.append(rule)
        return "settings.local.json:1"

    def of(self, kind: type[Any]) -> list[Any]:
        """All entries of one kind."""
        return [e for e in self.journal.entries if isinstance(e, kind)]

    def results(self) -> dict[str, ToolFinished]:
        return {e.use_id: e for e in self.of(ToolFinished)}
