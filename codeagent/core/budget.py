"""The meter: tokens, cache share, dollars and time, folded from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Compacted,
    Earlier,
    Entry,
    Event,
    Noted,
    Spent,
    ToolFinished,
    TurnEnded,
)
from codeagent.core.messages import Usage

DOUBTED = (
    "The server's token counts cannot be true ({doubt}). They are not counted: what is told of tokens, context and "
    "cost is too low or an estimate."
)


def doubted(said: AssistantSaid, entries: Iterable[Entry]) -> Iterator[Noted]:
    """A word for the person when a reply's counts cannot be true, once a session; `entries` are the session's."""
    if said.doubt and not any(isinstance(entry, Noted) and entry.topic == "usage" for entry in entries):
        yield Noted(DOUBTED.format(doubt=said.doubt), to="person", topic="usage", level="warning")


class Used:
    """Used up by a step, a turn or a session. `cost` is None as soon as a price was unknown; times are milliseconds."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.requests = 0
        self.tool_calls = 0
        self.took_ms = 0
        self.known_cost = 0.0
        self.unpriced = False

    def pay(self, usage: Usage, cost: float | None) -> None:
        """Add a reply."""
        self.usage += usage
        if cost is None:
            self.unpriced = self.unpriced or usage.total > 0
        else:
            self.known_cost += cost

    @property
    def cost(self) -> float | None:
        """Dollars, None when some price was unknown."""
        return None if self.unpriced else self.known_cost

    @property
    def cached_share(self) -> float:
        """Share of all prompt tokens that came from the cache, 0 to 1."""
        return self.usage.cache_read / self.usage.prompt if self.usage.prompt else 0.0


class Meter(Used):
    """Totals of a session, with its latest step and turn apart. `context` is the last exchange in tokens."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        super().__init__()
        self.turn = Used()
        self.step = Used()
        self._between = True
        self.turns = 0
        self.context = 0
        self.model_ms = 0
        self.tool_ms = 0
        self.turn_ms = 0
        for entry in entries:
            self.see(entry)

    def see(self, event: Event) -> None:
        """Count one event; to be registered as a journal's watcher."""
        match event:
            case Asked():
                self._begin()
            case AssistantSaid(usage=usage, cost=cost):
                self.pay(usage, cost)
                self.model_ms += event.took_ms
                self.step.took_ms += event.took_ms
                if usage.total:
                    self.context = usage.total
            case Compacted(usage=usage, cost=cost):
                self.pay(usage, cost)
                self.context = event.after_tokens
            case Spent(usage=usage, cost=cost):
                self.pay(usage, cost)
                self.requests += 1
                self.turn.requests += 1
            case ToolFinished(took_ms=took):
                for each in (self, self.turn, self.step):
                    each.tool_calls += 1
                self.tool_ms += took
            case TurnEnded(took_ms=took):
                self.turns += 1
                self.turn_ms += took
                self.took_ms += took
                self.turn.took_ms, self._between = took, True
            case Earlier():
                self._add(event)
            case _:
                pass

    def pay(self, usage: Usage, cost: float | None) -> None:
        """Add a reply to the session, its turn and its step."""
        super().pay(usage, cost)
        self.turn.pay(usage, cost)
        self.step.pay(usage, cost)

    def _add(self, earlier: Earlier) -> None:
        super().pay(earlier.usage, earlier.cost)
        self.requests += earlier.requests
        self.tool_calls += earlier.tool_calls
        self.turns += earlier.turns
        self.model_ms += earlier.model_ms
        self.tool_ms += earlier.tool_ms
        self.turn_ms += earlier.turn_ms
        self.took_ms += earlier.turn_ms

    def _begin(self) -> None:
        """A request leaves: a step begins, and the first one after a turn's end begins a turn."""
        if self._between:
            self.turn, self._between = Used(), False
        self.step = Used()
        for each in (self, self.turn, self.step):
            each.requests += 1

    @property
    def weighed(self) -> float:
        """Tokens for the budget valve: cache reads count a tenth."""
        return self.usage.total - 0.9 * self.usage.cache_read
