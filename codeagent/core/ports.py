"""What the core asks of the outside, and the promises that go with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from msgspec import Struct

from codeagent.core.effects import Answer, Effect, Permit, Question
from codeagent.core.events import AssistantSaid, Delta, Event, Retried, Saw
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.messages import Document, Image, Request, Text, Usage
from codeagent.core.modes import EFFORTS
from codeagent.core.views import View


class Price(Struct, frozen=True):
    """Dollars per million tokens, as listed on `date` (YYYY-MM-DD)."""

    input: float
    output: float
    write: float
    write_1h: float
    read: float
    date: str = ""

    def cost(self, usage: Usage) -> float:
        """Dollars for this usage."""
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_write * self.write
            + usage.cache_write_1h * self.write_1h
            + usage.cache_read * self.read
        ) / 1e6


FIRST_ROOM = 32_000
"""Tokens of output that a request asks for at first, of a model that has more."""


class ModelInfo(Struct, frozen=True):
    """A model: window and output limit in tokens, price (None: unknown), short name for the status line."""

    id: str
    short: str
    window: int
    max_output: int
    price: Price | None = None
    chars_per_token: float = 3.3
    efforts: tuple[str, ...] = ()

    @property
    def first_room(self) -> int:
        """Tokens of output to ask for at first; a reply cut there is asked again with all that the model has."""
        return min(self.max_output, FIRST_ROOM)

    def unfit(self, effort: str) -> str:
        """Why this model cannot think at this level, in words; empty when it can."""
        if effort not in EFFORTS:
            return f"{effort!r} is no level of effort. The levels are: {', '.join(self.efforts or EFFORTS)}."
        if not self.efforts:
            return f"{self.short} has no levels of effort."
        if effort not in self.efforts:
            return f"{self.short} knows no effort {effort!r}, only {', '.join(self.efforts)}."
        return ""


class Model(Protocol):
    """Answers requests.

    `stream` yields deltas, a `Retried` before each new attempt, then exactly one `AssistantSaid`,
    and nothing after it. It raises ModelError and CancelledError, nothing else. Cancelling closes
    the connection at once. It never keeps or edits the request.
    """

    def info(self, model: str) -> ModelInfo:
        """What is known of this model; never fails, an unknown model gets cautious figures."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Retried | AssistantSaid]: ...


class Progress(Struct, frozen=True):
    """Output of a call that still runs."""

    text: str


class Result(Struct, frozen=True):
    """The last thing that a call yields: `blocks` for the model, the rest for the eye and the record."""

    blocks: tuple[Text | Image | Document, ...]
    is_error: bool = False
    summary: str = ""
    view: View | None = None
    saw: tuple[Saw, ...] = ()
    before: str = ""
    after: str = ""
    cwd: str = ""
    timed_out: bool = False

    @classmethod
    def of(cls, text: str, **fields: Any) -> Result:
        """A result that is one text."""
        return cls((Text(text),), **fields)


In = TypeVar("In", contravariant=True)


class Tool(Protocol[In]):
    """Something that the model can do.

    `Input` is a pydantic model of the input. `plan` looks and does not touch; it raises ToolFault
    when the call cannot work. `run` touches, needs the Permit, yields Progress and then exactly
    one Result, or raises ToolFault. Cancelling `run` ends everything it started. `timeout` is the
    most that `run` may take, in seconds. `description` is written for the model.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    timeout: ClassVar[float]
    Input: ClassVar[type[Any]]

    async def plan(self, args: In) -> Effect: ...
    def run(self, args: In, permit: Permit) -> AsyncIterator[Progress | Result]: ...


class Approver(Protocol):
    """Whoever can be asked. `attended` is False when nobody is there: then what would be asked is refused."""

    @property
    def attended(self) -> bool: ...

    async def ask(self, question: Question) -> Answer: ...


class Front(Approver, Protocol):
    """A way to use the agent. `see` returns at once; `ask` may take as long as a person does, and honours cancel."""

    def see(self, event: Event) -> None: ...


class Kept(Struct, frozen=True):
    """What was kept before an effect: paths with what stands there, and whether the whole project was looked at.

    `words` tell a person what could not be kept; they come once.
    """

    paths: tuple[tuple[str, FileState], ...] = ()
    scanned: bool = False
    words: str = ""


class Restoring(Struct, frozen=True):
    """A path that is to become `wanted` again; `expected` is what we last saw there."""

    path: str
    wanted: FileState
    expected: FileState


class Conflict(Struct, frozen=True):
    """A path that cannot simply be put back, and why, in words for a person."""

    path: str
    why: str


class Snapshots(Protocol):
    """Keeps what files held, outside the user's git, so that a rewind can put it back. Nothing here raises."""

    async def keep(self, effect: Effect) -> Kept:
        """Keep what the effect may change. Costs nothing for effects of LOW risk."""
        ...

    async def changes(self, kept: Sequence[tuple[str, FileState]], *, scanned: bool) -> tuple[FileChange, ...]:
        """What is different from what `keep` saw; also in a later process, after a kill."""
        ...

    async def rest(self) -> tuple[FileChange, ...]:
        """What commands changed whose end nobody told: those of sub-agents that were interrupted."""
        ...

    async def compare(self, plan: Sequence[Restoring]) -> tuple[Sequence[Restoring], Sequence[Conflict]]:
        """Those that differ from what is wanted, and those of them that were changed since or are no longer kept."""
        ...

    async def restore(self, plan: Sequence[Restoring]) -> tuple[tuple[FileChange, ...], tuple[Conflict, ...]]:
        """Put files back; what stood there is kept first. What was changed, and what could not be."""
        ...


class Clock(Protocol):
    """Time. `now` is seconds since the epoch, `monotonic` seconds that never run backwards."""

    def now(self) -> float: ...
    def monotonic(self) -> float: ...


class Ids(Protocol):
    """Fresh identifiers, unique within a session: `new("turn")` gives `turn_...`."""

    def new(self, prefix: str) -> str: ...
