"""Each request of a session with its reply: what was sent, what was new in it, what it cost. Pure, for every front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from codeagent.core.conversation import digest
from codeagent.core.errors import UsageFault
from codeagent.core.events import Asked, AssistantSaid, Compacted, Entry, Retried, TurnEnded
from codeagent.core.messages import Message, Request
from codeagent.sessions.replay import rebuild


class Exchange(Struct, frozen=True):
    """One request and what came of it.

    `number` counts requests from 1, `position` is the request's entry. `kept` is how many messages were sent before in
    the same form: what follows them in `request.messages` is new. `changed` names other parts that are not those of
    the request before (`system`, `tools`, `model` ...). `same` says that the rebuilt request is the one that was sent.
    `reply` is what the model said; a summary comes as `summary`; `failed` has words when neither came.
    """

    number: int
    position: int
    asked: Asked
    request: Request
    same: bool
    kept: int
    changed: tuple[str, ...] = ()
    retries: tuple[Retried, ...] = ()
    reply: AssistantSaid | None = None
    summary: Compacted | None = None
    failed: str = ""

    @property
    def fresh(self) -> tuple[Message, ...]:
        """The messages that were not sent before."""
        return self.request.messages[self.kept :]


def exchanges(entries: Sequence[Entry]) -> Iterator[Exchange]:
    """All of them, in order."""
    before: Request | None = None
    for rebuilt in rebuild(entries):
        now = rebuilt.request
        after = _after(entries, rebuilt.position)
        yield Exchange(
            rebuilt.number,
            rebuilt.position,
            rebuilt.asked,
            now,
            digest(now) == rebuilt.asked.digest,
            _shared(before.messages, now.messages) if before else 0,
            tuple(part for part in _PARTS if before and getattr(before, part) != getattr(now, part)),
            tuple(e for e in after if isinstance(e, Retried)),
            next((e for e in after if isinstance(e, AssistantSaid)), None),
            next((e for e in after if isinstance(e, Compacted)), None),
            next((e.detail for e in after if isinstance(e, TurnEnded) and e.why == "failed"), ""),
        )
        before = now


def exchange(entries: Sequence[Entry], number: int = 0) -> Exchange:
    """The one with this number, the last when it is 0. Raises UsageFault when there is none."""
    last: Exchange | None = None
    for last in exchanges(entries):
        if last.number == number:
            return last
    if last is None:
        raise UsageFault("Nothing was asked in this session yet.")
    if number:
        raise UsageFault(f"There is no step {number}. This session has {last.number:,}: 1 to {last.number:,}.")
    return last


_PARTS = ("model", "system", "tools", "max_tokens", "effort", "cache", "without")


def _after(entries: Sequence[Entry], position: int) -> list[Entry]:
    """What came of the request at this position: everything up to its reply, the next request or the turn's end."""
    found: list[Entry] = []
    for at in range(position + 1, len(entries)):
        entry = entries[at]
        if isinstance(entry, Asked):
            break
        found.append(entry)
        if isinstance(entry, AssistantSaid | Compacted | TurnEnded):
            break
    return found


def _shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages at the beginning are equal; what the fold settled is the same object, and quick to compare."""
    count = 0
    for old, new in zip(before, now, strict=False):
        if old is not new and old != new:
            break
        count += 1
    return count
