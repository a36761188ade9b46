"""The task tool: a sub-agent does a part of the work in a context of its own, and its last words are the result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

from msgspec import Struct
from pydantic import Field

from codeagent.core.clean import clean_line
from codeagent.core.effects import Effect, Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.events import (
    AssistantSaid,
    CallDelta,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from codeagent.core.ports import Progress, Result
from codeagent.core.subagents import DEEPEST, Kind, Subagent
from codeagent.core.toolset import Toolset
from codeagent.core.views import Plain
from codeagent.tools.inputs import Input, Line, prompt

if TYPE_CHECKING:
    from codeagent.core.starting import Starts

LONGEST = 20_000
"""Characters of a report that the model gets."""

LISTED = 160
"""Characters of a description in the list of kinds."""

DESCRIBED = 12
"""Kinds that are described to the model; of more it gets the names, because every request carries the list."""

OTHER_NAMES = {"general-purpose": "general"}
"""What models trained on other programs call our kinds."""

DEEPER = "Sub-agents of sub-agents can have none of their own. Do this part yourself."


class Order(Struct, frozen=True):
    """What is asked for: the call, the task in a few words and in full, who shall do it and what it may know."""

    use_id: str
    label: str
    task: str
    kind: Kind
    fork: bool = False


class Hired(Struct):
    """A sub-agent that is ready: with its tools, the words that it gets, and where it is written down.

    `prefix` names what its requests begin with, empty when the cache holds that already; `transcript` is empty when
    nothing is kept. `close` is called when its work is over.
    """

    agent: Subagent
    tools: Toolset
    task: str
    prefix: str = ""
    transcript: str = ""
    close: Callable[[], None] = lambda: None


class Crew(Protocol):
    """Makes sub-agents for the agent on one level."""

    @property
    def kinds(self) -> Mapping[str, Kind]: ...

    @property
    def starts(self) -> Starts: ...

    @property
    def level(self) -> int:
        """How deep the agent works that hires here; 0 is the one that the person talks to."""
        ...

    def hire(self, order: Order) -> Hired:
        """Make ready. Raises ToolFault, in words, when that cannot be."""
        ...


class TaskInput(Input):
    """What to do, and who does it."""

    description: Annotated[Line, Field(min_length=1, max_length=200)]
    prompt: Annotated[Line, Field(min_length=1)]
    agent: Line = "general"
    fork: bool = False


class Task:
    """Implements core.ports.Tool for the agent that `crew` belongs to."""

    name: ClassVar[str] = "task"
    timeout: ClassVar[float] = 7 * 24 * 3600.0
    Input: ClassVar[type[Any]] = TaskInput

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.description = prompt("task").replace("{agents}", "; ".join(_known(crew.kinds)))

    async def plan(self, args: TaskInput) -> Effect:
        if self._crew.level >= DEEPEST:
            raise ToolFault(DEEPER, summary="too deep")
        kind = self._kind(args)
        label = clean_line(args.description).strip()
        view = Plain(f"{kind.name}{', with what is known here' if args.fork else ''}\n{args.prompt}")
        return Effect(self.name, label, f"Hand to a sub-agent: {label}", Risk.LOW, view, free=True, name=kind.name)

    async def run(self, args: TaskInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        order = Order(permit.use_id, permit.effect.label, args.prompt, self._kind(args), args.fork)
        async with self._crew.starts.place(self._crew.level + 1):
            hired = self._crew.hire(order)
            try:
                async with self._crew.starts.turn(hired.prefix) as begun:
                    work = _Work(hired, begun)
                    try:
                        async for line in work.lines():
                            yield Progress(line)
                    finally:
                        await work.end()
            finally:
                hired.close()
        yield _told(hired, work.ended)

    def _kind(self, args: TaskInput) -> Kind:
        kinds, name = self._crew.kinds, args.agent.strip().lower()
        kind = kinds.get(name) or kinds.get(OTHER_NAMES.get(name, ""))
        if kind is None:
            raise ToolFault(f"There is no agent {args.agent!r}. The agents are: {', '.join(kinds)}.")
        return kind


class _Work:
    """A sub-agent at work, and what it does in lines as they come. `begun` is called with its first words."""

    def __init__(self, hired: Hired, begun: Callable[[], None]) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._begun = begun
        self._nested: set[str] = set()
        self.ended = TurnEnded("failed")
        hired.agent.journal.watch(self._see)
        self._task = asyncio.create_task(hired.agent.work(hired.tools, hired.task))
        self._task.add_done_callback(lambda _: self._lines.put_nowait(None))

    async def lines(self) -> AsyncIterator[str]:
        """One line for each thing that it does; sets `ended` at the end."""
        while (line := await self._lines.get()) is not None:
            yield line
        self.ended = await self._task

    async def end(self) -> None:
        """Interrupt it if it still works."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _see(self, event: Event) -> None:
        match event:
            case TextDelta() | ThinkingDelta() | CallDelta() | AssistantSaid():
                self._begun()
            case ToolStarted(use_id=use_id, tool=tool, title=title):
                self._lines.put_nowait(f"{clean_line(title)}\n")
                if tool == Task.name:
                    self._nested.add(use_id)
            case ToolProgress(use_id=use_id, text=text) if use_id in self._nested:
                self._lines.put_nowait(f"  {text}")
            case _:
                pass


def _told(hired: Hired, ended: TurnEnded) -> Result:
    """Its last words as the result; an error when it did not come to its end."""
    agent = hired.agent
    words = agent.words
    if len(words) > LONGEST:
        where = f" The whole stands at the end of {hired.transcript}." if hired.transcript else ""
        words = (
            f"{words[:LONGEST]}\n[The report was cut here, {len(words) - LONGEST:,} characters are left out.{where}]"
        )
    summary = f"{_count(ended.steps, 'step')}, {_thousands(agent.meter.usage.total)} tokens"
    if ended.why == "done":
        return Result.of(words, summary=summary, view=Plain(words))
    why = {"valve": "It was stopped by a limit", "refused": "Its model declined"}.get(ended.why, "It failed")
    told = f"The sub-agent did not finish. {why}: {ended.detail or ended.why}"
    told += f"\nIts last words:\n{words}" if words else "\nIt had said nothing yet."
    return Result.of(told, is_error=True, summary=summary, view=Plain(told))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _thousands(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k" if tokens >= 1000 else str(tokens)


def _known(kinds: Mapping[str, Kind]) -> Iterator[str]:
    for number, kind in enumerate(kinds.values()):
        yield f"`{kind.name}` {_short(kind.description)}" if number < DESCRIBED else f"`{kind.name}`"


def _short(text: str) -> str:
    text = text.rstrip(".")
    return text if len(text) <= LISTED else f"{text[: LISTED - 1]}…"
