"""codeagent as a library: a pair programmer in a project, with your model, your tools, your yes or no.

    async with Pair("path/to/project", approve=ask) as pair:
        reply = await pair.say("Why does the test fail?")

Settings, guidelines, rules and the session log are those of the program; nothing is printed.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from msgspec.structs import replace

from codeagent.core.agent import Agent
from codeagent.core.effects import Answer, AskPermission, AskPlan, AskUser, AskValve, Permit, Question, Risk
from codeagent.core.errors import CodeagentError, ModelError, ToolFault
from codeagent.core.events import AssistantSaid, Event, TurnEnded
from codeagent.core.messages import Usage
from codeagent.core.ports import Model, Progress, Result, Tool
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House

__all__ = [
    "Answer",
    "AskPermission",
    "AskPlan",
    "AskUser",
    "AskValve",
    "CodeagentError",
    "Event",
    "Model",
    "ModelError",
    "Options",
    "Pair",
    "Permit",
    "Progress",
    "Question",
    "Reply",
    "Result",
    "Risk",
    "Tool",
    "ToolFault",
    "tool",
]

Approve = Callable[[Question], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a message: the last words, why the turn ended, the session's cost in dollars (None: unknown).

    `why` is done, interrupted, failed, valve or refused; `detail` says more when it is not done.
    """

    text: str
    why: str
    detail: str
    cost: float | None
    usage: Usage


class Pair:
    """One session in a project; an async context manager.

    `model` is a name as for `--model`, or your own Model. `tools` come on top of the usual ones. `approve`
    is asked for what is not allowed by rules and mode; without it, that is refused. `see` gets every event.
    `options` are the flags of the command line: `Options(permission_mode="plan", no_session_persistence=True)`.
    The key and other variables come from `environ`, settings from `home` too. Raises CodeagentError.
    """

    def __init__(
        self,
        project: str | Path = ".",
        *,
        model: str | Model = "",
        tools: Sequence[Tool[Any]] = (),
        approve: Approve | None = None,
        see: Callable[[Event], None] | None = None,
        options: Options | None = None,
        environ: Mapping[str, str] | None = None,
        home: Path | None = None,
    ) -> None:
        named = model if isinstance(model, str) else "given:model"
        base = options or Options()
        given = replace(base, cwd=str(project), model=named or base.model)
        ground = Ground(given, os.environ if environ is None else environ, home or Path.home())
        own = None if isinstance(model, str) else model
        self._house = House(given, ground, _Front(approve, see), headless=True, model=own, tools=tools)

    async def __aenter__(self) -> Pair:
        self._house.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._house.close()

    @property
    def agent(self) -> Agent:
        """The agent itself: its journal, steer, switch, compact."""
        return self._house.agent

    async def say(self, text: str) -> Reply:
        """Run a turn to its end. Cancel it to interrupt: what it started is ended."""
        entries = self.agent.journal.entries
        before = len(entries)
        await self.agent.say(text)
        new = self.agent.journal.entries[before:]
        words = next((each.text for each in reversed(new) if isinstance(each, AssistantSaid) and each.text), "")
        ended = next((each for each in reversed(new) if isinstance(each, TurnEnded)), TurnEnded("failed"))
        return Reply(words, ended.why, ended.detail, self.agent.meter.cost, self.agent.meter.usage)


def tool(function: Callable[..., Any], *, risk: Risk = Risk.HIGH, timeout: float = 60.0) -> Tool[Any]:
    """A function as a tool: annotated parameters are its input, its docstring tells the model what it is for."""
    from codeagent.tools.function import FunctionTool

    return cast("Tool[Any]", FunctionTool(function, risk=risk, timeout=timeout))


class _Front:
    """Hands events and questions on."""

    def __init__(self, approve: Approve | None, see: Callable[[Event], None] | None) -> None:
        self._approve, self._see = approve, see

    @property
    def attended(self) -> bool:
        return self._approve is not None

    def see(self, event: Event) -> None:
        if self._see is not None:
            self._see(event)

    async def ask(self, question: Question) -> Answer:
        answer = await self._approve(question) if self._approve is not None else Answer("no")
        return answer if answer.who else replace(answer, who="the program")
