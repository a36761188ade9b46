"""One turn: ask, record, pass the gate, run, record; again until nothing is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core import compaction
from codeagent.core.calls import Calls
from codeagent.core.conversation import Fold, digest, tail
from codeagent.core.effects import AskValve
from codeagent.core.errors import CodeagentError, ContextOverflow, ModelError, RequestRejected
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Entry,
    Noted,
    Retried,
    Switched,
    ToolFinished,
    TurnEnded,
    ValveClosed,
)
from codeagent.core.journal import Journal
from codeagent.core.messages import Request, Text
from codeagent.core.ports import Approver, Clock, Model, ModelInfo
from codeagent.core.scribe import Scribe
from codeagent.core.valves import Closed, NoProgress, Valves

PAUSES = 5
"""How often in a row a server may pause its own tools before we stop."""

CUT_CALL = "Your last reply was cut at the output limit. {calls} was not run. Do it again in smaller pieces."
CUT_TEXT = "Your last reply was cut at the output limit. Go on where it stopped."
EMPTY = "Your last reply was empty. Go on with the task, or say that it is done."


class Surroundings(Protocol):
    """What a turn takes from its agent."""

    @property
    def clock(self) -> Clock: ...

    @property
    def approver(self) -> Approver: ...

    @property
    def policy(self) -> compaction.Policy: ...

    def tail(self) -> Iterable[Entry]:
        """Entries to append before the next step: steered messages, changed guidelines."""
        ...

    def steered(self) -> bool:
        """Whether a message for this turn waits."""
        ...

    def restored(self, tail: list[Entry], room: int) -> tuple[str, ...]:
        """Notes to put back after a compaction (see `summing_up`)."""
        ...

    def heard(self, asked: Request, said: AssistantSaid) -> Iterable[Entry]:
        """Entries to append after a reply: what its figures tell."""
        ...

    def owed(self, said: AssistantSaid) -> Iterable[Entry]:
        """Entries to append when a reply would end the turn and something is missing in it; none when it may end."""
        ...


class _Counts(Struct):
    """What one turn has used up."""

    steps: int = 0
    pauses: int = 0
    empty: bool = False
    overflowed: bool = False


class Turn:
    """The loop. It knows no screen, no provider and no tool by name."""

    def __init__(
        self, journal: Journal, model: Model, calls: Calls, valves: Valves, surroundings: Surroundings
    ) -> None:
        self._journal, self._model, self._calls = journal, model, calls
        self._valves, self._around = valves, surroundings
        self._progress = NoProgress()
        self._fold = Fold()
        self._counts = _Counts()
        self._started = surroundings.clock.monotonic()

    async def take(self) -> TurnEnded:
        """Run to the end. The last entry is always a `TurnEnded`; only CancelledError leaves."""
        ended = TurnEnded("interrupted")
        try:
            ended = await self._loop()
        except ModelError as fault:
            ended = TurnEnded("failed", str(fault), fault.category, fault.status)
        except CodeagentError as fault:
            ended = TurnEnded("failed", str(fault))
        finally:
            took = int(1000 * self._elapsed())
            ended = replace(ended, steps=self._counts.steps, took_ms=took)
            self._journal.append(ended)
        return ended

    async def _loop(self) -> TurnEnded:
        while True:
            stopped = await self._valve(self._valves.closed(self._counts.steps, self._elapsed()))
            if stopped:
                return stopped
            self._warn()
            self._counts.steps += 1
            for entry in self._around.tail():
                self._journal.append(entry)
            said = await self._step()
            ended = await self._after(said)
            if ended:
                return ended

    async def _step(self) -> AssistantSaid:
        """One reply, whatever it takes: less history, fewer features, more room."""
        if compaction.due(self._journal.entries, self._info(), self._around.policy):
            await self._compact("auto")
        while True:
            asked = self._fold.request(self._journal.entries)
            try:
                return await self._listen(asked)
            except RequestRejected as refused:
                if not refused.feature or refused.feature in asked.without:
                    raise
                self._journal.append(Switched(without=(refused.feature,), by="server", why=str(refused)))
            except ContextOverflow:
                if self._counts.overflowed or not await self._compact("overflow"):
                    raise
                self._counts.overflowed = True

    async def _listen(self, asked: Request) -> AssistantSaid:
        """Send one request and record what comes back, the words of a broken stream too."""
        self._journal.append(self._asked(asked))
        scribe = Scribe(self._journal)
        try:
            async for part in self._model.stream(asked):
                if isinstance(part, AssistantSaid):
                    scribe.stop()
                    said = self._judged(part, asked)
                    self._journal.append(said)
                    for entry in self._around.heard(asked, said):
                        self._journal.append(entry)
                    return said
                if isinstance(part, Retried):
                    scribe.restart()
                self._journal.append(part)
                scribe.hear(part)
        except asyncio.CancelledError:
            words = scribe.words.strip()
            self._journal.append(AssistantSaid((Text(words),) if words else (), "interrupted", model=asked.model))
            raise
        finally:
            scribe.stop()
        raise ModelError("The model ended without a reply. Try again.", category="malformed")

    def _asked(self, asked: Request) -> Asked:
        return Asked(
            self._counts.steps,
            asked.model,
            digest(asked),
            digest(asked.system),
            digest(asked.tools),
            len(asked.messages),
            asked.max_tokens,
            asked.effort,
            tail=tail(asked),
        )

    def _judged(self, said: AssistantSaid, asked: Request) -> AssistantSaid:
        """A refused reply, or one whose cut call is asked for again with more room, never goes back to the model."""
        more = said.stop == "max_tokens" and bool(said.cut) and asked.max_tokens < self._info().max_output
        return replace(said, void=True) if said.stop == "refusal" or more else said

    async def _after(self, said: AssistantSaid) -> TurnEnded | None:
        """What the loop does next; None goes on."""
        if said.void:
            return self._voided(said)
        if said.uses:
            return await self._run(said)
        match said.stop:
            case "end_turn" | "stop_sequence":
                return self._finished(said)
            case "pause_turn":
                self._counts.pauses += 1
                return self._failed("The model paused too often.") if self._counts.pauses > PAUSES else None
            case "max_tokens":
                words = CUT_CALL.format(calls=", ".join(said.cut)) if said.cut else CUT_TEXT
                self._journal.append(Noted(words, to="model", topic="model"))
                return None
            case "context_window":
                if await self._compact("overflow"):
                    return None
                return self._failed("The conversation is longer than the model's window. /compact or /clear it.")
            case _:
                return self._failed("The model stopped without giving a reason. Say «go on» to try again.")

    def _voided(self, said: AssistantSaid) -> TurnEnded | None:
        if said.stop == "refusal":
            words = "The model declined to answer. Use other words or another model."
            return TurnEnded("refused", said.detail or words)
        room = self._info().max_output
        self._journal.append(Switched(max_tokens=room, by="valve", why="the reply was longer than planned"))
        return None

    def _finished(self, said: AssistantSaid) -> TurnEnded | None:
        if said.text.strip():
            if self._around.steered():
                return None
            owed = tuple(self._around.owed(said))
            for entry in owed:
                self._journal.append(entry)
            return None if owed else TurnEnded("done")
        if self._counts.empty:
            return self._failed("The model gave an empty reply twice. Say it in other words.")
        self._counts.empty = True
        self._journal.append(Noted(EMPTY, to="model", topic="model"))
        return None

    async def _run(self, said: AssistantSaid) -> TurnEnded | None:
        if self._valves.limits.progress:
            closed = self._progress.closed(said.uses)
            stopped = await self._valve(closed)
            if stopped:
                return stopped
            if closed:
                self._progress.pardon()
        results = await self._calls.run(said.uses)
        self._progress.ran(said.uses, [(_words(result), result.is_error) for result in results])
        if said.cut:
            words = CUT_CALL.format(calls=", ".join(said.cut))
            self._journal.append(Noted(words, to="model", topic="model"))
        self._counts.empty = False
        return None

    async def _valve(self, closed: Closed | None) -> TurnEnded | None:
        """A closed valve asks whoever is there; nobody there, or a no, ends the turn."""
        if closed is None:
            return None
        on = False
        if self._around.approver.attended:
            question = AskValve(closed.valve, closed.words, closed.limit, closed.proposed)
            on = (await self._around.approver.ask(question)).verdict != "no"
        self._journal.append(
            ValveClosed(closed.valve, closed.words, closed.limit, closed.seen, closed.proposed if on else 0)
        )
        if not on:
            return TurnEnded("valve", closed.words, valve=closed.valve)
        self._valves.raise_to(closed)
        return None

    def _warn(self) -> None:
        near = self._valves.warning(self._counts.steps, self._elapsed())
        if near:
            self._journal.append(ValveClosed(near.valve, near.words, near.limit, near.seen, warning=True))

    async def _compact(self, trigger: compaction.Trigger) -> bool:
        """Sum up what is old. False when that did not work: everything stays as it was, and it says so."""
        from codeagent.core.summing_up import compact  # once in many sessions

        return await compact(self._journal, self._model, self._around, trigger)

    def _info(self) -> ModelInfo:
        return self._model.info(self._fold.parameters(self._journal.entries).model)

    def _elapsed(self) -> float:
        return self._around.clock.monotonic() - self._started

    @staticmethod
    def _failed(words: str) -> TurnEnded:
        return TurnEnded("failed", words)


def _words(result: ToolFinished) -> str:
    return "\n".join(block.text if isinstance(block, Text) else repr(block) for block in result.blocks)
