"""One conversation with one person: say, steer, queue, compact, switch. Fronts talk to this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core import compaction
from codeagent.core.budget import Meter, doubted
from codeagent.core.cache_audit import CacheAudit
from codeagent.core.call_events import OWN
from codeagent.core.calls import Calls
from codeagent.core.conversation import Parameters, live, parameters
from codeagent.core.effects import Effect
from codeagent.core.errors import UsageFault
from codeagent.core.events import (
    NOT_LOADED,
    AssistantSaid,
    Compacted,
    Earlier,
    Entry,
    Event,
    Noted,
    Opened,
    Queued,
    Rewound,
    Switched,
    Titled,
    ToolFinished,
    UserSaid,
)
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Image, Request, Text, ToolUse
from codeagent.core.modes import CYCLE, MODES, mode_named
from codeagent.core.ports import Approver, Clock, Ids, Model, ModelInfo, Snapshots
from codeagent.core.reflection import Reflection
from codeagent.core.rewind import Point, Preview, Rewind, WentBack, points
from codeagent.core.toolset import Toolset
from codeagent.core.turn import Turn
from codeagent.core.valves import Limits, Valves
from codeagent.core.views import Todo

PLAN_ON = (
    "Plan mode is on: explore with tools that only read, and change nothing. When you know enough, present the plan "
    "with present_plan: the steps in order, the files each step touches, and how to check it."
)
PLAN_ALONE = (
    "Plan mode is on: explore with tools that only read, and change nothing. Nobody can approve a plan here: end with "
    "it as your answer, the steps in order, the files each step touches, and how to check it."
)
PLAN_OFF = "Plan mode is off: you may change things again, as the permissions allow."


def _nothing(_entries: Sequence[Entry], _tail: Sequence[Entry], _room: int) -> tuple[str, ...]:
    """Put nothing back."""
    return ()


def _all_said(_said: AssistantSaid) -> Iterable[Noted]:
    """Nothing is missing."""
    return ()


class Outside(Struct):
    """What an agent needs of the world, beside model, tools and gate.

    `news` gives notes to tell the model before a step (a changed guideline file); `restored`
    gives what is put back after a compaction: it gets the session's entries, those of them that stay,
    and how many characters of files may come back. `owed` gives what to say to a reply that would end
    the turn and lacks something, nothing mostly.
    """

    clock: Clock
    ids: Ids
    approver: Approver
    news: Callable[[], Iterable[Noted]] = tuple
    restored: Callable[[Sequence[Entry], Sequence[Entry], int], tuple[str, ...]] = _nothing
    policy: compaction.Policy = compaction.Policy()
    snapshots: Snapshots | None = None
    owed: Callable[[AssistantSaid], Iterable[Noted]] = _all_said


class Agent:
    """Holds no messages: everything it knows is folded from its journal."""

    def __init__(
        self, journal: Journal, model: Model, tools: Toolset, gate: Gate, limits: Limits, outside: Outside
    ) -> None:
        self.journal = journal
        loaded = [entry for entry in journal.entries if entry is not NOT_LOADED]
        self.meter = Meter(loaded)
        journal.watch(self.meter.see)
        journal.watch(self._see)
        self.valves = Valves(limits, self.meter)
        self.working = False
        self.todo: Todo | None = None
        self.title = ""
        self._planning = False
        """Whether the model was told that plan mode is on."""
        self._model, self._gate, self._outside = model, gate, outside
        self._calls = Calls(journal, tools, gate, outside.clock, outside.ids, outside.snapshots)
        self._rewind = Rewind(journal, outside.snapshots)
        self._waiting: dict[str, Queued] = {}
        self._audit = CacheAudit(journal.entries)
        self._reflection = Reflection(loaded)
        journal.watch(self._audit.see)
        journal.watch(self._reflection.see)
        self._now: Parameters = parameters(loaded)
        for entry in loaded:
            self._see(entry)

    # --- what stands ---

    @property
    def mode(self) -> str:
        """The permission mode."""
        return self._gate.mode

    @property
    def model(self) -> str:
        """The model's id."""
        return self._now.model

    @property
    def effort(self) -> str:
        """How hard it thinks; an empty string is the model's default."""
        return self._now.effort

    @property
    def info(self) -> ModelInfo:
        """What is known of the current model."""
        return self._model.info(self.model)

    @property
    def waiting(self) -> tuple[Queued, ...]:
        """Messages that are not delivered yet, oldest first."""
        return tuple(self._waiting.values())

    # --- what a person does ---

    async def say(self, text: str, pictures: Sequence[Image] = ()) -> None:
        """Run a turn to its end, and the turns that messages kept for later make. Cancel to interrupt."""
        await self._rewind.settle()
        self._name(text)
        self.journal.append(UserSaid((*pictures, Text(text)) if text.strip() else tuple(pictures)))
        await self._turns()

    def steer(self, text: str) -> None:
        """Say this after the current step."""
        self._queue(text, "step")

    def later(self, text: str) -> None:
        """Say this at the end of the turn."""
        self._queue(text, "turn")

    def take_back(self) -> str:
        """Withdraw the newest message that still waits; its text, or an empty string."""
        if not self._waiting:
            return ""
        newest = list(self._waiting.values())[-1]
        self.journal.append(Queued(newest.id, newest.text, newest.when, withdrawn=True))
        return newest.text

    def switch(
        self, *, mode: str = "", model: str = "", effort: str = "", by: Literal["user", "plan"] = "user"
    ) -> None:
        """Change mode, model or effort from the next step on. Raises UsageFault for what there is not."""
        if mode:
            named = mode_named(mode)
            if not named:
                raise UsageFault(f"There is no mode {mode!r}. The modes are: {', '.join(MODES)}.")
            mode = named
        if effort and (why := self._model.info(model or self.model).unfit(effort)):
            raise UsageFault(why)
        room = self._model.info(model).first_room if model else 0
        self.journal.append(Switched(mode=mode, model=model, effort=effort, max_tokens=room, by=by))

    def cycle_mode(self) -> str:
        """The next mode in the cycle default, acceptEdits, plan."""
        place = CYCLE.index(self.mode) if self.mode in CYCLE else -1
        mode = CYCLE[(place + 1) % len(CYCLE)]
        self.switch(mode=mode)
        return mode

    async def shell(self, command: str) -> None:
        """Run a command of the person's own, through the gate; the model reads of it with the next message.

        Raises UsageFault while a turn runs. Cancel to stop it.
        """
        if self.working:
            raise UsageFault("Something is running. Stop it first, or wait until it is done.")
        use = ToolUse(self._outside.ids.new(OWN), "bash", {"command": command})
        told = f"The user ran this command and stopped it: {command}"
        self.working = True
        try:
            (finished,) = await self._calls.run((use,), own=True)
            output = "\n".join(block.text for block in finished.blocks if isinstance(block, Text))
            told = f"The user ran this command: {command}\nIt gave:\n{output}"
        finally:
            self.working = False
            self.journal.append(Noted(told, to="model", topic="shell"))

    async def foresee(self, tool: str, given: Mapping[str, Any]) -> Effect | str | None:
        """What a call with this input would do as things are now, or why it could not; None: there is no such tool.

        Nothing is done, asked or put on record.
        """
        if not self._calls.knows(tool):
            return None
        seen = await self._calls.foresee(ToolUse("", tool, given))
        return seen if isinstance(seen, Effect) else "\n".join(b.text for b in seen.blocks if isinstance(b, Text))

    async def compact(self, focus: str = "") -> bool:
        """Sum up the conversation now. False when there is too little to sum up, or it failed."""
        from codeagent.core.summing_up import compact  # once in many sessions

        return await compact(self.journal, self._model, self, "manual", focus)

    async def points(self) -> tuple[Point, ...]:
        """Where one can go back to: the messages, oldest first, then the point before the latest rewind."""
        await self._rewind.settle()
        return points(self.journal.entries)

    async def preview(self, to: int) -> Preview:
        """What going back to just before entry `to` would do to files. Raises UsageFault when it is no such point."""
        return await self._rewind.preview(to)

    async def rewind(self, to: int, *, files: bool = True, conversation: bool = True, anyway: bool = False) -> WentBack:
        """Go back to just before entry `to`: files, conversation or both. Undone by going back to before that.

        `anyway` also puts back files that were changed since by others. Raises UsageFault while a turn runs, and
        for conflicts, and then nothing was done. Messages that wait are taken back; their words are in the result.
        """
        if self.working:
            raise UsageFault("Something is running. Stop it first, then go back.")
        back = await self._rewind.go(to, files=files, conversation=conversation, anyway=anyway)
        waiting = []
        while conversation and (text := self.take_back()):
            waiting.append(text)
        return replace(back, text="\n\n".join(filter(None, (back.text, *reversed(waiting))))) if waiting else back

    def rename(self, title: str) -> None:
        """Give the session a name."""
        self.journal.append(Titled(title.strip()[:200], by="user"))

    def note(self, text: str, topic: str = "") -> None:
        """Tell the person something, on record."""
        self.journal.append(Noted(text, to="person", topic=topic))

    # --- what a turn takes from here (turn.Surroundings) ---

    @property
    def clock(self) -> Clock:
        """Time, as injected."""
        return self._outside.clock

    @property
    def approver(self) -> Approver:
        """Whoever can be asked."""
        return self._outside.approver

    @property
    def policy(self) -> compaction.Policy:
        """When to compact."""
        return self._outside.policy

    def tail(self) -> Iterable[Entry]:
        """News for the model, a failure to think about, and messages that were steered."""
        if (self.mode == "plan") != self._planning:
            on = PLAN_ON if self.approver.attended else PLAN_ALONE
            yield Noted(on if self.mode == "plan" else PLAN_OFF, to="model", topic="mode")
        yield from self._outside.news()
        if reflect := self._reflection.note(memory=any(tool.name == "memory" for tool in self._now.tools)):
            yield reflect
        for queued in self.waiting:
            if queued.when == "step":
                yield UserSaid((Text(queued.text),), queued=queued.id)

    def steered(self) -> bool:
        """Whether a message waits for the end of the step."""
        return any(queued.when == "step" for queued in self._waiting.values())

    def restored(self, tail: list[Entry], room: int) -> tuple[str, ...]:
        """What is put back after a compaction: what the outside adds, and the todo list."""
        notes = list(self._outside.restored(self.journal.entries, tail, room))
        if self.todo and any(item.status != "completed" for item in self.todo.items):
            items = "\n".join(f"- [{item.status}] {item.text}" for item in self.todo.items)
            notes.append(f"Your todo list:\n{items}")
        return tuple(notes)

    def heard(self, asked: Request, said: AssistantSaid) -> Iterable[Entry]:
        """What a reply's figures tell: a cache that was missed, or that they cannot be true."""
        yield from doubted(said, self.journal.entries)
        yield from self._audit.heard(asked, said, self._outside.clock.now(), self._model.info(asked.model).price)

    def owed(self, said: AssistantSaid) -> Iterable[Entry]:
        """What the outside misses in a last reply."""
        return self._outside.owed(said)

    # --- inside ---

    async def _turns(self) -> None:
        self.working = True
        try:
            while True:
                ended = await Turn(self.journal, self._model, self._calls, self.valves, self).take()
                later = next((q for q in self.waiting), None)
                if ended.why != "done" or later is None:
                    return
                self.journal.append(UserSaid((Text(later.text),), queued=later.id))
        finally:
            self.working = False

    def _queue(self, text: str, when: str) -> None:
        id_ = self._outside.ids.new("queued")
        self.journal.append(Queued(id_, text, "turn" if when == "turn" else "step"))

    def _name(self, text: str) -> None:
        """The first words become the title until something better comes."""
        first = text.strip().splitlines()[0] if text.strip() else ""
        if first and not self.title:
            self.journal.append(Titled(first if len(first) <= 80 else first[:79].rstrip() + "…"))

    def _see(self, event: Event) -> None:
        match event:
            case Opened() | Switched():
                self._now = parameters(self.journal.entries)
                self._gate.mode = self._now.mode
            case Titled(title=title):
                self.title = title
            case Queued(withdrawn=True) | UserSaid(queued=_):
                self._waiting.pop(event.id if isinstance(event, Queued) else event.queued, None)
            case Queued():
                self._waiting[event.id] = event
            case Noted(to="model", topic="mode", text=text):
                self._planning = text != PLAN_OFF
            case Compacted():
                self._planning = False
            case ToolFinished(view=Todo() as todo) | Earlier(todo=Todo() as todo):
                self.todo = todo
            case Rewound(conversation=True):
                self.todo = self._todo_now()
            case _:
                pass

    def _todo_now(self) -> Todo | None:
        """The todo list of the conversation as it stands."""
        entries = self.journal.entries
        for position in reversed(live(entries)):
            entry = entries[position]
            if isinstance(entry, ToolFinished) and isinstance(entry.view, Todo):
                return entry.view
            if isinstance(entry, Earlier) and entry.todo:
                return entry.todo
        return None
