"""Runs the calls of one step: plan, permit, run, record. The one tool boundary of the program.

Calls that the gate classes LOW and lets pass unasked run side by side; any other waits for those
before it and runs alone, in the model's order. One failing never cancels another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core.effects import Effect, Permit, Refusal, Revised, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.events import Noted, ToolFinished, ToolProgress, ToolStarted
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Text, ToolUse
from codeagent.core.ports import Clock, Ids, Kept, Progress, Result, Snapshots, Tool
from codeagent.core.rewind import record
from codeagent.core.toolset import Toolset

log = logging.getLogger(__name__)
T = TypeVar("T")

CHANGED = "The user changed your call before accepting it. What was run:"


class Ready(Struct, frozen=True):
    """A call that was understood: its tool, its validated input, what it would do."""

    use: ToolUse
    tool: Any
    args: Any
    effect: Effect


class Calls:
    """Serves the calls of one agent's steps."""

    def __init__(
        self,
        journal: Journal,
        tools: Toolset,
        gate: Gate,
        clock: Clock,
        ids: Ids,
        snapshots: Snapshots | None = None,
    ) -> None:
        self._journal, self._tools, self._gate = journal, tools, gate
        self._clock, self._ids, self._snapshots = clock, ids, snapshots

    async def run(self, uses: Sequence[ToolUse], *, own: bool = False) -> list[ToolFinished]:
        """Run them all; each gets exactly one `ToolFinished`, given back in the order of the calls.

        `own` calls are the person's, not the model's.
        """
        done: dict[str, ToolFinished] = {}
        running: set[asyncio.Task[None]] = set()

        async def serve(ready: Ready) -> None:
            done[ready.use.id] = await self._serve(ready, own=own)

        try:
            for use in uses:
                ready = await self._boundary(use, self._plan(use))
                if isinstance(ready, Ready) and not self._side_by_side(ready):
                    await _all(running)
                    # The world may have changed while the others ran: look again before asking.
                    ready = await self._boundary(use, self._plan(use)) if done else ready
                    if isinstance(ready, Ready):
                        await serve(ready)
                        continue
                if isinstance(ready, Ready):
                    running.add(asyncio.create_task(serve(ready)))
                else:
                    done[use.id] = self._finish(use, ready, 0)
            await _all(running)
        finally:
            await _cancel(running)
        return [done[use.id] for use in uses]

    async def foresee(self, use: ToolUse) -> Effect | Result:
        """What the call would do as things are now, or its fault. It looks and does not touch."""
        ready = await self._boundary(use, self._plan(use))
        return ready.effect if isinstance(ready, Ready) else ready

    def knows(self, tool: str) -> bool:
        """Whether there is a tool of that name."""
        return tool in self._tools.names

    def _side_by_side(self, ready: Ready) -> bool:
        return ready.effect.risk == Risk.LOW and self._gate.judge(ready.effect).decision == "allow"

    async def _plan(self, use: ToolUse) -> Ready:
        tool = self._tools.find(use)
        if use.malformed:
            raise ToolFault(
                f"The input of this {use.name} call was no valid JSON object, so it was not run. It began: "
                f"{use.malformed[:200]!r}. Send the call again with valid JSON.",
                summary="bad input",
            )
        args = self._tools.parse(tool, use.name, use.input)
        return Ready(use, tool, args, await tool.plan(args))

    async def _serve(self, ready: Ready, *, own: bool) -> ToolFinished:
        """Ask the gate, then run. A person who edits the change first makes it be planned again."""
        use = ready.use
        changed: tuple[Text, ...] = ()
        permit = await self._gate.permit(use, ready.effect, own=own)
        if isinstance(permit, Revised):
            revised = replace(use, input=dict(permit.input), malformed="")
            again = await self._boundary(use, self._plan(revised))
            if isinstance(again, Result):
                return self._finish(use, again, 0)
            ready, consent = again, permit
            permit = await self._gate.permit(use, ready.effect, consent)
            changed = (Text(f"{CHANGED} {json.dumps(dict(consent.input), ensure_ascii=False)}"),)
        if isinstance(permit, Refusal):
            return self._finish(use, Result.of(permit.reason, is_error=True, summary="not allowed"), 0, refused=True)
        if isinstance(permit, Revised):
            return self._finish(use, Result.of("Not run.", is_error=True, summary="not run"), 0, refused=True)
        return await self._run(ready, permit, changed)

    async def _run(self, ready: Ready, permit: Permit, changed: tuple[Text, ...]) -> ToolFinished:
        use, effect = ready.use, ready.effect
        key = self._ids.new("call")
        kept = await self._kept(effect)
        call = ToolStarted(
            use.id,
            use.name,
            effect.label,
            effect.title,
            effect.view,
            int(effect.risk),
            key,
            kept.paths,
            kept.scanned,
        )
        self._journal.append(call)
        started = self._clock.monotonic()
        result = await self._boundary(use, self._result(ready.tool, ready.args, permit, use))
        took = int(1000 * (self._clock.monotonic() - started))
        if self._snapshots and (call.kept or call.scanned):  # of an interrupted call, the agent tells it afterwards
            await record(self._journal, self._snapshots, call, always=False)
        adds = (Text(f"The user adds: {permit.words}"),) if permit.words else ()
        result = replace(result, blocks=(*result.blocks, *changed, *adds))
        return self._finish(use, result, took)

    async def _kept(self, effect: Effect) -> Kept:
        """What a rewind will need is kept before anything changes; reading costs nothing."""
        if self._snapshots is None or effect.risk == Risk.LOW:
            return Kept()
        kept = await self._snapshots.keep(effect)
        if kept.words:
            self._journal.append(Noted(kept.words, to="person", topic="snapshots", level="warning"))
        return kept

    async def _result(self, tool: Tool[Any], args: Any, permit: Permit, use: ToolUse) -> Result:
        try:
            async with asyncio.timeout(tool.timeout), contextlib.aclosing(tool.run(args, permit)) as parts:  # type: ignore[type-var]  # every run is an async generator
                async for part in parts:
                    if isinstance(part, Progress):
                        self._journal.append(ToolProgress(use.id, part.text))
                    else:
                        return part
        except TimeoutError:
            return Result.of(
                f"{use.name} was stopped after {tool.timeout:.0f} seconds. Try something smaller.",
                is_error=True,
                summary="too slow",
                timed_out=True,
            )
        raise ToolFault(f"{use.name} ended without a result.")

    async def _boundary(self, use: ToolUse, act: Awaitable[T]) -> T | Result:
        """Nothing that a tool does ends the loop: its faults are news for the model."""
        try:
            return await act
        except ToolFault as fault:
            return Result.of(str(fault), is_error=True, summary=fault.summary or "failed")
        except Exception as bug:  # the one broad except: a tool's bug is the model's news
            log.exception("tool %s failed inside", use.name)
            words = f"{use.name} failed inside ({type(bug).__name__}: {bug}). Nothing more is known; try another way."
            return Result.of(words, is_error=True, summary="failed inside")

    def _finish(self, use: ToolUse, result: Result, took: int, *, refused: bool = False) -> ToolFinished:
        outcome = "timeout" if result.timed_out else "failed" if result.is_error else "done"
        finished = ToolFinished(
            use.id,
            use.name,
            result.blocks,
            result.is_error,
            "refused" if refused else outcome,  # type: ignore[arg-type]  # mypy widens the conditional to str
            result.summary,
            result.view,
            took,
            result.saw,
            result.before,
            result.after,
            result.cwd,
        )
        self._journal.append(finished)
        return finished


async def _all(tasks: set[asyncio.Task[None]]) -> None:
    """Wait for all; they do not raise but by cancellation."""
    if tasks:
        await asyncio.gather(*tasks)
        tasks.clear()


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)
