"""A sub-agent: a second journal and a second turn, behind the same gate and under the same limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core.budget import Meter
from codeagent.core.cache_audit import CacheAudit
from codeagent.core.calls import Calls
from codeagent.core.compaction import Policy
from codeagent.core.effects import Answer, Question
from codeagent.core.events import (
    AssistantSaid,
    Changed,
    Compacted,
    Decided,
    Entry,
    Event,
    Noted,
    Prepared,
    Spent,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Request, Text
from codeagent.core.ports import Approver, Clock, Ids, Model, Snapshots
from codeagent.core.toolset import Toolset
from codeagent.core.turn import Turn
from codeagent.core.valves import Valves

DEEPEST = 2
"""Levels of sub-agents below the agent that the person talks to."""

PLAN_ON = "Plan mode is on: explore with tools that only read, and change nothing. What you find is your answer."


class Kind(Struct, frozen=True):
    """A kind of sub-agent: what it is for, and its system prompt.

    `tools` None means all that sub-agents get. An empty `model` is that of the agent that calls it; `steps` 0 is the
    limit of a turn. `where` is the file that defines it, empty for those of the product.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    model: str = ""
    steps: int = 0
    where: str = ""


BUILT_IN = (
    Kind(
        "explore",
        "finds out and changes nothing",
        "You explore a project for another agent and report to it. You can only read and search. Look in several "
        "places, by several names, before you say that something is not there. Answer what was asked, with paths and "
        "line numbers, and say what you did not check. Your last message is all that the other agent gets.",
        ("read", "grep", "glob"),
    ),
    Kind(
        "general",
        "any task of several steps",
        "You do one task for another agent, in the same project and with the same permissions, and report to it. "
        "Nobody can answer questions: decide yourself, and say what you assumed. Do what was asked and no more; check "
        "that it works. End with what you did, the files that you changed, and what is left open. Your last message is "
        "all that the other agent gets.",
    ),
)


class Parent(Struct):
    """The agent that a sub-agent works for, and what it lends; level 0 is the one that the person talks to."""

    journal: Journal
    model: Model
    gate: Gate
    valves: Valves
    clock: Clock
    ids: Ids
    policy: Policy = Policy()
    snapshots: Snapshots | None = None
    level: int = 0


class Subagent:
    """Works on one task in its own journal. Whatever it spends, changes and is allowed stands in the parent's too.

    `label` is its name in questions to the person; `use_id` the call that it works for. The journal begins with what
    the sub-agent knows.
    """

    def __init__(self, parent: Parent, use_id: str, label: str, journal: Journal, steps: int = 0) -> None:
        self.journal = journal
        self.meter = Meter()
        self.use_id, self.label = use_id, label
        self._above = parent.journal
        self._began = len(journal.entries)
        gate, valves = parent.gate.lend(label, journal.append), parent.valves.lend(steps)
        self.parent = replace(parent, journal=journal, gate=gate, valves=valves, level=parent.level + 1)
        """What it lends to sub-agents of its own."""
        self._told_plan = False
        self._audit = CacheAudit()
        journal.watch(self._audit.see)
        journal.watch(self.meter.see)
        journal.watch(self._report)

    async def work(self, tools: Toolset, task: str) -> TurnEnded:
        """Do the task, to the end of one turn. Cancel to interrupt."""
        lent = self.parent
        calls = Calls(self.journal, tools, lent.gate, lent.clock, lent.ids, lent.snapshots)
        self.journal.append(UserSaid((Text(task),)))
        return await Turn(self.journal, lent.model, calls, lent.valves, self).take()

    @property
    def words(self) -> str:
        """The last that it said."""
        said = (e.text for e in reversed(self.journal.entries[self._began :]) if isinstance(e, AssistantSaid))
        return next((text.strip() for text in said if text.strip()), "")

    # --- what a turn takes from here (turn.Surroundings) ---

    @property
    def clock(self) -> Clock:
        """Time, as injected."""
        return self.parent.clock

    @property
    def approver(self) -> Approver:
        """Nobody: a limit ends a sub-agent, and the agent above asks whether to go on."""
        return Nobody()

    @property
    def policy(self) -> Policy:
        """When to compact."""
        return self.parent.policy

    def tail(self) -> Iterable[Entry]:
        """Plan mode, told once."""
        if self.parent.gate.mode == "plan" and not self._told_plan:
            self._told_plan = True
            yield Noted(PLAN_ON, to="model", topic="mode")

    def steered(self) -> bool:
        """Nobody talks to it."""
        return False

    def restored(self, tail: list[Entry], room: int) -> tuple[str, ...]:
        """Its task stands in what was summed up."""
        return ()

    def heard(self, asked: Request, said: AssistantSaid) -> Iterable[Entry]:
        """A cache that was missed."""
        return self._audit.heard(asked, said, self.clock.now(), self.parent.model.info(asked.model).price)

    def owed(self, said: AssistantSaid) -> Iterable[Entry]:
        """Its last words are as they are."""
        return ()

    # --- inside ---

    def _report(self, event: Event) -> None:
        """Put on record above what counts for the whole session: money, files, decisions."""
        match event:
            case AssistantSaid(usage=usage, cost=cost, model=model) if usage.total:
                self._above.append(Spent(self.use_id, usage, cost, model))
            case Compacted(usage=usage, cost=cost) if usage.total:
                self._above.append(Spent(self.use_id, usage, cost))
            case Spent():
                self._above.append(replace(event, use_id=self.use_id))
            case ToolStarted(use_id=call, kept=kept, scanned=scanned) if kept or scanned:
                self._above.append(Prepared(self.use_id, call, kept, scanned))
            case Prepared():
                self._above.append(replace(event, use_id=self.use_id))
            case Changed(use_id=use_id, call=call):
                self._above.append(replace(event, use_id=self.use_id, call=call or use_id))
            case Decided():
                self._above.append(replace(event, agent=event.agent or self.label))
            case _:
                pass


class Nobody:
    """An approver that is not there."""

    attended = False

    async def ask(self, question: Question) -> Answer:
        """No."""
        return Answer("no")


def inherited(entries: Sequence[Entry], use_id: str) -> list[Entry]:
    """What a fork knows: everything before the reply that holds its call, so that its first request begins like the
    latest one of its parent, byte for byte."""
    for at in reversed(range(len(entries))):
        entry = entries[at]
        if isinstance(entry, AssistantSaid) and any(use.id == use_id for use in entry.uses):
            return list(entries[:at])
    return list(entries)
