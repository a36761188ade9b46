"""Rebuilds what a session sent from its log alone, and names the first place where it is not what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from codeagent.core.compaction import question
from codeagent.core.conversation import Fold, digest
from codeagent.core.events import Asked, Entry
from codeagent.core.messages import Message, Request


class Rebuilt(Struct, frozen=True):
    """A request as it follows from the entries before `position`, beside what was recorded when it left.

    `number` counts the requests of the session from 1.
    """

    number: int
    position: int
    asked: Asked
    request: Request


class Difference(Struct, frozen=True):
    """One thing that is not as it was recorded: of which request or call, which part, what was and what is."""

    number: int
    position: int
    part: str
    was: str
    now: str


class Replayed(Struct, frozen=True):
    """What a replay found; `differences` has at most one for each request."""

    requests: int
    differences: tuple[Difference, ...]


def rebuild(entries: Sequence[Entry]) -> Iterator[Rebuilt]:
    """Every request of the session, in order; each entry is folded once."""
    fold, number = Fold(), 0
    known: list[Entry] = []
    for position, entry in enumerate(entries):
        if isinstance(entry, Asked):
            number += 1
            request = fold.request(known)
            if entry.purpose == "compaction":
                request = question(request, entry.focus)
            yield Rebuilt(number, position, entry, request)
        known.append(entry)


def replay(entries: Sequence[Entry]) -> Replayed:
    """Rebuild every request and compare it with what was recorded of it."""
    number, found = 0, []
    for rebuilt in rebuild(entries):
        number = rebuilt.number
        difference = compare(rebuilt)
        if difference is not None:
            found.append(difference)
    return Replayed(number, tuple(found))


def compare(rebuilt: Rebuilt) -> Difference | None:
    """The first difference of one request, the outermost part first; None when it is the same byte for byte."""
    asked, now = rebuilt.asked, rebuilt.request
    if digest(now) == asked.digest:
        return None
    part, was, is_ = next(_parts(asked, now))
    return Difference(rebuilt.number, rebuilt.position, part, was, is_)


def _parts(asked: Asked, now: Request) -> Iterator[tuple[str, str, str]]:
    """Parts that differ: name, what was recorded, what was rebuilt."""
    for part, was, is_ in (
        ("model", asked.model, now.model),
        ("max_tokens", asked.max_tokens, now.max_tokens),
        ("effort", asked.effort, now.effort),
        ("system", asked.system, digest(now.system)),
        ("tools", asked.tools, digest(now.tools)),
        ("messages", f"{asked.messages} of them", f"{len(now.messages)} of them"),
    ):
        if was != is_:
            yield part, _short(was), _short(is_)
    yield from _blocks(asked.tail, now.messages)
    what = "an earlier message, or a part that is not recorded by itself"
    yield what, asked.digest[:12], digest(now)[:12]


def _blocks(was: Sequence[str], messages: Sequence[Message]) -> Iterator[tuple[str, str, str]]:
    last = messages[-2:]
    first = len(messages) - len(last)
    places = [f"messages.{first + m}.content.{b}" for m, message in enumerate(last) for b in range(len(message.blocks))]
    blocks = [block for message in last for block in message.blocks]
    for at, block in enumerate(blocks):
        found = digest(block)[:12]
        if not was:
            return
        if at >= len(was):
            yield places[at], "no such block", _said(block)
        elif found != was[at]:
            yield places[at], was[at], f"{found}: {_said(block)}"
    if len(blocks) < len(was):
        yield f"messages.{len(messages) - 1}", f"{len(was)} blocks at the end", f"{len(blocks)} blocks"


def _said(block: object) -> str:
    return _short(repr(block))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 160 else f"{text[:159]}…"
