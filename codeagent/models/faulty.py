"""A model with faults on demand: what breaks is named by a short plan, and breaks the same way each time."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Literal, get_args

from msgspec import Struct

from codeagent.core.errors import ModelBusy, UsageFault
from codeagent.core.events import AssistantSaid, Delta, Retried, TextDelta, ThinkingDelta
from codeagent.core.messages import Request
from codeagent.core.ports import Model, ModelInfo
from codeagent.models.speech import listening, rest

Kind = Literal["busy", "rate", "error", "drop", "cut", "stall"]
KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
"""What can go wrong, by name."""
_ITEM = re.compile(rf"(?P<first>\d+)(?:-(?P<last>\d+))?=(?P<kind>{'|'.join(KINDS)})(?:@(?P<after>\d+))?")


class Fault(Struct, frozen=True):
    """What happens to the requests `first` to `last`, counted from 1, once `after` characters have been streamed."""

    first: int
    last: int
    kind: Kind
    after: int = 0


def plan(text: str) -> tuple[Fault, ...]:
    """Read a plan such as `1=busy,2-3=rate,4=drop@40`. Raises UsageFault that names the part at fault."""
    faults: list[Fault] = []
    for item in text.split(","):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise UsageFault(
                f"{item.strip()!r} is no fault. Write REQUEST=KIND or REQUEST=KIND@CHARACTERS, with commas between: "
                "1=busy,2-3=rate,4=drop@40. The kinds are busy, rate, error, drop, cut and stall."
            )
        first = int(match["first"])
        faults.append(Fault(first, int(match["last"] or first), KINDS[match["kind"]], int(match["after"] or 0)))
    return tuple(faults)


class Faulty:
    """Implements ports.Model: passes on `inner`, and breaks the requests that `faults` names.

    Requests are counted in this process, tries included, so that a retry comes through when the
    plan says so. `stall` is how long a stalled stream is silent before it counts as dead, in seconds.
    """

    def __init__(self, inner: Model, faults: tuple[Fault, ...], *, stall: float = 90) -> None:
        self._inner = inner
        self._faults = faults
        self._stall = stall
        self._requests = 0

    def info(self, model: str) -> ModelInfo:
        """What the inner model says of itself."""
        return self._inner.info(model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        """Pass on the inner stream up to the fault, if this request has one. Raises ModelBusy there."""
        self._requests += 1
        fault = next((f for f in self._faults if f.first <= self._requests <= f.last), None)
        if fault and not fault.after:
            await self._break(fault)
        streamed = 0
        async with listening(self._inner, request) as events:
            async for event in events:
                if fault and isinstance(event, AssistantSaid):
                    await self._break(fault)
                yield event
                if fault and isinstance(event, TextDelta | ThinkingDelta):
                    streamed += len(event.text)
                    if streamed >= fault.after:
                        await self._break(fault)

    async def _break(self, fault: Fault) -> None:
        """Raise what this kind of fault looks like from outside."""
        match fault.kind:
            case "busy":
                raise ModelBusy("The model is overloaded (made by the fault plan).", category="overloaded", status=529)
            case "rate":
                raise ModelBusy(
                    "Too many requests (made by the fault plan).", category="rate_limit", status=429, retry_after=1
                )
            case "error":
                raise ModelBusy("The server failed (made by the fault plan).", category="server_error", status=500)
            case "drop":
                raise ModelBusy("The connection was lost (made by the fault plan).", category="connection")
            case "cut":
                raise ModelBusy("The stream ended too early (made by the fault plan).", category="truncated")
            case "stall":
                await rest(self._stall)
                raise ModelBusy(
                    f"Nothing came for {self._stall:g} seconds (made by the fault plan).", category="timeout"
                )
