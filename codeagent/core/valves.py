"""Small objects that can stop the loop: steps, budget, no progress, time. Each is asked at one place in `turn.py`.

`Steps`, `Budget` and `Seconds` are asked at the top of the loop body, in this order, before the
step is counted; `NoProgress` after a reply, before its calls run. (The fourth valve of the
product, approval, is the gate.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from codeagent.core.budget import Meter
from codeagent.core.messages import ToolUse

Name = Literal["steps", "tokens", "dollars", "no_progress", "seconds"]


class Closed(Struct, frozen=True):
    """A valve says stop. `proposed` is the limit that going on would set."""

    valve: Name
    words: str
    limit: float
    seen: float
    proposed: float


class Limits(Struct, frozen=True):
    """Where the valves stand; 0 is off. Steps and seconds count in a turn, tokens and dollars in a session."""

    steps: int = 50
    tokens: int = 5_000_000
    dollars: float = 0.0
    seconds: float = 0.0
    progress: bool = True


class Valves:
    """The limits of one agent, raised when the person says so."""

    def __init__(self, limits: Limits, meter: Meter, owner: Valves | None = None) -> None:
        self._own, self._owner = limits, owner
        self._meter = meter
        self._warned: set[str] = set()
        self._elapsed = 0.0
        """Seconds of the turn when it was last asked."""

    def lend(self, steps: int = 0) -> Valves:
        """Valves of a sub-agent: it counts its own steps, and what it spends is the session's, under the same limits.

        `steps` 0 gives it as many as a turn has. Of time it gets what the turn has left.
        """
        left = max(0.001, self.limits.seconds - self._elapsed) if self.limits.seconds else 0
        own = msgspec.structs.replace(self.limits, steps=steps or self.limits.steps, seconds=left)
        lent = Valves(own, self._meter, self)
        # The agent in front of the person warns of what all share.
        lent._warned = {"steps", "tokens", "dollars"}
        return lent

    @property
    def limits(self) -> Limits:
        """Where they stand now."""
        own = self._own
        if self._owner is None:
            return own
        return msgspec.structs.replace(self._owner.limits, steps=own.steps, seconds=own.seconds)

    def closed(self, steps: int, elapsed: float) -> Closed | None:
        """Asked before each step: `steps` were taken in this turn, `elapsed` seconds passed in it."""
        self._elapsed = elapsed
        return next((c for c in self._gauges(steps, elapsed) if c.limit and c.seen >= c.limit), None)

    def warning(self, steps: int, elapsed: float) -> Closed | None:
        """The first limit of which 80 % is used, once each."""
        for gauge in self._gauges(steps, elapsed):
            near = gauge.limit and 0.8 * gauge.limit <= gauge.seen < gauge.limit
            if near and gauge.valve not in self._warned:
                self._warned.add(gauge.valve)
                return msgspec.structs.replace(gauge, words=gauge.words.replace("Stopped after", "Used", 1))
        return None

    def raise_to(self, closed: Closed) -> None:
        """Go on with the proposed limit."""
        self._warned.discard(closed.valve)
        match closed.valve:
            case "steps":
                self._own = msgspec.structs.replace(self._own, steps=int(closed.proposed))
            case "tokens":
                self._own = msgspec.structs.replace(self._own, tokens=int(closed.proposed))
            case "dollars":
                self._own = msgspec.structs.replace(self._own, dollars=closed.proposed)
            case "seconds":
                self._own = msgspec.structs.replace(self._own, seconds=closed.proposed)
            case "no_progress":
                pass

    def _gauges(self, steps: int, elapsed: float) -> tuple[Closed, ...]:
        limits, meter = self.limits, self._meter
        return (
            Closed(
                "steps", f"Stopped after {steps} of {limits.steps} steps.", limits.steps, steps, steps + limits.steps
            ),
            Closed(
                "tokens",
                f"Stopped after {meter.weighed:,.0f} of {limits.tokens:,} tokens.",
                limits.tokens,
                meter.weighed,
                meter.weighed + limits.tokens,
            ),
            Closed(
                "dollars",
                f"Stopped after ${meter.known_cost:.2f} of ${limits.dollars:.2f}.",
                limits.dollars,
                meter.known_cost,
                meter.known_cost + limits.dollars,
            ),
            Closed(
                "seconds",
                f"Stopped after {elapsed:.0f} of {limits.seconds:.0f} seconds.",
                limits.seconds,
                elapsed,
                elapsed + limits.seconds,
            ),
        )


class NoProgress:
    """Sees when a turn goes round in circles. One for each turn.

    A step's signature is its calls, names and canonical inputs, sorted. Stopped before it runs:
    the third of three identical steps whose results were equal; the step that would close a third
    round of a cycle of two or three steps with equal results; a call that failed the same way
    twice before. A poll whose result changes goes on.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, str]] = []
        self._failures: dict[str, tuple[str, int]] = {}

    def closed(self, uses: Sequence[ToolUse]) -> Closed | None:
        """Asked after a reply, before its calls run."""
        signature = _signature(uses)
        for length in (1, 2, 3):
            if self._cycles(signature, length):
                what = "The same step" if length == 1 else f"The same {length} steps"
                return self._closed(f"Stopped: no progress. {what} came a third time with the same results.")
        for use in uses:
            if self._failures.get(_call(use), ("", 0))[1] >= 2:
                return self._closed(f"Stopped: no progress. The same {use.name} call failed twice in the same way.")
        return None

    def ran(self, uses: Sequence[ToolUse], results: Sequence[tuple[str, bool]]) -> None:
        """Take note of a step that ran: the result text of each call, and whether it failed."""
        self._steps.append((_signature(uses), repr([text for text, _ in results])))
        for use, (text, failed) in zip(uses, results, strict=True):
            call = _call(use)
            before, times = self._failures.get(call, ("", 0))
            if failed:
                self._failures[call] = (text, times + 1 if text == before else 1)
            else:
                self._failures.pop(call, None)

    def pardon(self) -> None:
        """The person said: go on."""
        self._steps.clear()
        self._failures.clear()

    def _cycles(self, signature: str, length: int) -> bool:
        # This step would be the last of a third equal round; the 3n - 1 steps before it ran.
        ran = self._steps[-(3 * length - 1) :]
        return (
            len(ran) == 3 * length - 1
            and all(ran[i] == ran[i + length] for i in range(2 * length - 1))
            and ran[length - 1][0] == signature
        )

    @staticmethod
    def _closed(words: str) -> Closed:
        return Closed("no_progress", words, limit=3, seen=3, proposed=3)


def _call(use: ToolUse) -> str:
    # Not msgspec: it refuses half a surrogate pair, which a model may well send.
    return f"{use.name} {json.dumps(use.input, sort_keys=True)}"


def _signature(uses: Sequence[ToolUse]) -> str:
    return "\n".join(sorted(_call(use) for use in uses))
