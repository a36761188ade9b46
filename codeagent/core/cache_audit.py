"""Why the provider's cache was missed, and what that cost: the block at fault, a switch, or the time that passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from codeagent.core.conversation import request
from codeagent.core.events import Asked, AssistantSaid, Compacted, Entry, Event, Noted, Rewound
from codeagent.core.messages import Block, Request, ToolResult, ToolSchema, ToolUse, Usage
from codeagent.core.ports import Price

TOPIC = "cache"
"""Topic of the note that tells a miss."""
LEAST = 1024
"""Tokens below which a miss is noise: no model caches less."""
SHARE = 0.05
"""Share of what could have been read below which a miss is noise."""
LIFETIME = {"5m": 300.0, "1h": 3600.0}
"""Seconds that an entry lives after it was last read."""

Kind = Literal["model", "tools", "system", "effort", "features", "messages", "idle", "server"]
OWN_DOING: frozenset[Kind] = frozenset({"model", "effort", "features", "idle"})
"""What a person or time brought about; all else is a fault."""


class Cause(Struct, frozen=True):
    """What made the cache useless, as a clause: `the model was switched from A to B`."""

    kind: Kind
    words: str


class Exchange(Struct, frozen=True):
    """A request and what it used; `ended` is when its reply was there, seconds since the epoch, 0 if unknown."""

    request: Request
    usage: Usage
    ended: float = 0.0


class Miss(Struct, frozen=True):
    """Tokens that were to be read from the cache and were not; dollars more than reading them, None without a price."""

    cause: Cause
    tokens: int
    dollars: float | None


def missed(before: Exchange, now: Exchange, began: float, price: Price | None, reason: str = "") -> Miss | None:
    """The miss of `now`, if there was one. `began` is when it was sent; `reason` is the provider's own word."""
    stored = before.usage.cache_read + before.usage.cache_write + before.usage.cache_write_1h
    tokens = stored - now.usage.cache_read
    if tokens < LEAST or tokens < SHARE * stored:
        return None
    idle = began - before.ended if before.ended else 0.0
    cause = difference(before.request, now.request) or _other(before.request, idle, reason)
    return Miss(cause, tokens, _more(tokens, now.usage, price))


def _other(before: Request, idle: float, reason: str) -> Cause:
    lifetime = LIFETIME[before.cache]
    if idle > lifetime:
        return Cause("idle", f"{idle / 60:.0f} min passed, and entries live {lifetime / 60:.0f} min")
    said = f" (it says: {reason})" if reason else ""
    return Cause("server", f"nothing in the prompt's beginning changed; the server no longer had it{said}")


def _more(tokens: int, used: Usage, price: Price | None) -> float | None:
    if price is None:
        return None
    written = price.write_1h if used.cache_write_1h else price.write if used.cache_write else price.input
    return tokens * (written - price.read) / 1e6


def difference(before: Request, after: Request) -> Cause | None:
    """The first thing in the order of the prompt in which `after` does not extend `before`."""
    if before.model != after.model:
        return Cause("model", f"the model was switched from {before.model} to {after.model}")
    if before.tools != after.tools:
        return Cause("tools", _tools(before.tools, after.tools))
    if before.system != after.system:
        return Cause("system", _system(before.system, after.system))
    if before.effort != after.effort:
        return Cause("effort", f"the effort was changed from {before.effort or 'usual'} to {after.effort or 'usual'}")
    if before.without != after.without:
        gone = ", ".join(name for name in after.without if name not in before.without)
        return Cause("features", f"the server refused a feature ({gone}), so requests look different from here on")
    return next((Cause("messages", words) for words in _messages(before, after)), None)


def _tools(before: Sequence[ToolSchema], after: Sequence[ToolSchema]) -> str:
    old, new = {tool.name: tool for tool in before}, {tool.name: tool for tool in after}
    for name, tool in old.items():
        if name not in new:
            return f"the tool {name} is gone"
        if tool.description != new[name].description:
            return f"the description of the tool {name} changed"
        if tool.input_schema != new[name].input_schema:
            return f"the input schema of the tool {name} changed"
    added = [name for name in new if name not in old]
    return f"the tool {added[0]} was added" if added else "the order of the tools changed"


def _system(before: Sequence[str], after: Sequence[str]) -> str:
    if len(before) != len(after):
        return f"the system prompt has {len(after)} blocks, before it had {len(before)}"
    at = next(i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)
    old, new = before[at].splitlines(), after[at].splitlines()
    line = next(
        (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    heading = next((text for text in reversed(new[: line + 1]) if text.startswith("#")), "")
    return f"block {at + 1} of the system prompt changed in line {line + 1}" + (
        f", below {heading.lstrip('# ')}" if heading else ""
    )


def _messages(before: Request, after: Request) -> Iterator[str]:
    """The first block of the history that is not there any more as it was sent."""
    new = list(_blocks(after))
    for at, (number, role, block) in enumerate(_blocks(before)):
        if at >= len(new) or new[at][1:] != (role, block):
            yield f"message {number} changed: {_named(block)} of the {role} is not as it was sent"


def _blocks(asked: Request) -> Iterator[tuple[int, str, Block]]:
    for number, message in enumerate(asked.messages, 1):
        for block in message.blocks:
            yield number, message.role, block


def _named(block: Block) -> str:
    match block:
        case ToolUse(name=name):
            return f"the call of {name}"
        case ToolResult(tool_use_id=id_):
            return f"the result of the call {id_}"
        case _:
            return f"a block of kind {type(block).__name__.lower()}"


class CacheAudit:
    """Compares each exchange with the one before; built from a session's entries, so the first after a resume too."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._before: Exchange | None = None
        self._earlier: tuple[Sequence[Entry], int] | None = (entries, len(entries))

    def see(self, event: Event) -> None:
        """A history that was cut on purpose need not be extended by what comes next; a journal's watcher."""
        if _cut(event):
            self._before, self._earlier = None, None

    def heard(self, asked: Request, said: AssistantSaid, ended: float, price: Price | None) -> Iterator[Noted]:
        """Take note of a reply that came at `ended`; a note for the person when its cache was missed."""
        if not said.usage.prompt:
            return
        if self._earlier is not None:
            entries, count = self._earlier
            self._before, self._earlier = _last(entries[:count]), None
        before, now = self._before, Exchange(asked, said.usage, ended)
        self._before = now
        if before is not None:
            miss = missed(before, now, ended - said.took_ms / 1000, price, said.miss)
            if miss is not None:
                yield told(miss)


def told(miss: Miss) -> Noted:
    """The miss in words."""
    money = "" if miss.dollars is None else f" That cost ${miss.dollars:.4f} more."
    words = f"The cache of {miss.tokens:,} tokens was missed: {miss.cause.words}.{money}"
    level: Literal["info", "warning"] = "info" if miss.cause.kind in OWN_DOING else "warning"
    return Noted(words, to="person", topic=TOPIC, level=level)


def _last(entries: Sequence[Entry]) -> Exchange | None:
    """The last exchange of these entries, folded again as it was sent."""
    said = next((i for i in reversed(range(len(entries))) if _counts(entries[i])), None)
    if said is None or any(_cut(entry) for entry in entries[said:]):
        return None
    at = next((i for i in reversed(range(said)) if isinstance(entries[i], Asked)), None)
    reply = entries[said]
    if at is None or not isinstance(reply, AssistantSaid):
        return None
    return Exchange(request(entries[:at]), reply.usage)


def _cut(event: Event) -> bool:
    return isinstance(event, Compacted) or (isinstance(event, Rewound) and event.conversation)


def _counts(entry: Entry) -> bool:
    return isinstance(entry, AssistantSaid) and entry.usage.prompt > 0
