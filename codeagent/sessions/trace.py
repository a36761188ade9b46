"""What a session did, as a tree: run, turn, step, tool call, each with tokens, time, cost and outcome. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Compacted,
    Decided,
    Entry,
    Opened,
    Retried,
    Spent,
    Titled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import ToolUse, Usage


@dataclass
class Call:
    """One tool call. `outcome` is that of its result, `unknown` when none came; `by` says who allowed or refused it."""

    use: ToolUse
    title: str = ""
    outcome: str = "unknown"
    by: str = ""
    risk: int = 0
    took_ms: int = 0
    summary: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    """What the sub-agent that it called used."""


@dataclass
class Step:
    """One request and its reply. `outcome` is the stop reason, or `failed` when no reply came.

    `number` counts the requests of the session from 1, `position` is the entry of the request.
    """

    number: int
    position: int
    asked: Asked
    outcome: str = "failed"
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    first_ms: int = 0
    took_ms: int = 0
    response: str = ""
    request_id: str = ""
    miss: str = ""
    retries: list[Retried] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


@dataclass
class Turn:
    """What one message set going. `outcome` is how it ended, `open` when it did not."""

    number: int
    prompt: str
    outcome: str = "open"
    detail: str = ""
    took_ms: int = 0
    steps: list[Step] = field(default_factory=list)


@dataclass
class Run:
    """A whole session."""

    session: str = ""
    title: str = ""
    model: str = ""
    turns: list[Turn] = field(default_factory=list)


def usage(steps: Sequence[Step]) -> Usage:
    """Tokens of all these steps, those of the sub-agents that they called included."""
    return sum((part.usage for part in _spenders(steps)), Usage())


def cost(steps: Sequence[Step]) -> float | None:
    """Dollars of all these steps, None as soon as one that used tokens has no price."""
    if any(part.cost is None and part.usage.total for part in _spenders(steps)):
        return None
    return sum(part.cost or 0.0 for part in _spenders(steps))


def _spenders(steps: Sequence[Step]) -> Iterator[Step | Call]:
    for step in steps:
        yield step
        yield from step.calls


def cached(used: Usage) -> float:
    """Share of the prompt that came from the cache, 0 to 1."""
    return used.cache_read / used.prompt if used.prompt else 0.0


def steps(run: Run) -> list[Step]:
    """All steps, in order."""
    return [step for turn in run.turns for step in turn.steps]


def trace(entries: Sequence[Entry]) -> Run:
    """The tree of these entries."""
    growing = _Growing()
    for position, entry in enumerate(entries):
        growing.see(position, entry)
    return growing.run


class _Growing:
    """The tree so far, and where the next entry belongs."""

    def __init__(self) -> None:
        self.run = Run()
        self._turn: Turn | None = None
        self._step: Step | None = None
        self._calls: dict[str, Call] = {}
        self._number = 0

    def see(self, position: int, entry: Entry) -> None:
        match entry:
            case Opened():
                self.run.session, self.run.model = entry.session, entry.model
            case Titled(title=title):
                self.run.title = title
            case UserSaid(text=text) if self._turn is None:
                self._begin(text)
            case Asked():
                self._ask(position, entry)
            case Retried() if self._step:
                self._step.retries.append(entry)
            case AssistantSaid() if self._step:
                self._reply(self._step, entry)
            case Compacted() if self._step and self._step.asked.purpose == "compaction":
                self._step.outcome, self._step.usage, self._step.cost = "end_turn", entry.usage, entry.cost
            case Decided() | ToolStarted() | ToolFinished() if entry.use_id in self._calls:
                _act(self._calls[entry.use_id], entry)
            case Spent() if entry.use_id in self._calls:
                call = self._calls[entry.use_id]
                call.usage += entry.usage
                call.cost = None if call.cost is None or entry.cost is None else call.cost + entry.cost
            case TurnEnded():
                turn = self._turn or self._begin("")
                turn.outcome, turn.detail, turn.took_ms = entry.why, entry.detail, entry.took_ms
                self._turn = None
            case _:
                pass

    def _begin(self, prompt: str) -> Turn:
        self._turn = Turn(len(self.run.turns) + 1, prompt)
        self.run.turns.append(self._turn)
        return self._turn

    def _ask(self, position: int, asked: Asked) -> None:
        self._number += 1
        self._step = Step(self._number, position, asked)
        turn = self._turn
        if turn is None:
            turn = self._begin("/compact" if asked.purpose == "compaction" else "")
            if asked.purpose == "compaction":  # one that was asked for between two turns
                turn.outcome, self._turn = "done", None
        turn.steps.append(self._step)

    def _reply(self, step: Step, said: AssistantSaid) -> None:
        step.outcome, step.usage, step.cost = said.stop, said.usage, said.cost
        step.first_ms, step.took_ms, step.miss = said.first_ms, said.took_ms, said.miss
        step.response, step.request_id = said.message_id, said.request_id
        step.calls = [Call(use) for use in said.uses]
        self._calls.update((call.use.id, call) for call in step.calls)


def _act(call: Call, entry: Decided | ToolStarted | ToolFinished) -> None:
    match entry:
        case Decided():
            call.title, call.by, call.risk = entry.title, entry.by, entry.risk
        case ToolStarted():
            call.title, call.risk = entry.title, entry.risk
        case ToolFinished():
            call.outcome, call.took_ms, call.summary = entry.outcome, entry.took_ms, entry.summary
