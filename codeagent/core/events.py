"""Everything that can happen in a session, as plain facts.

An Entry is remembered: it is written to the log, and the next request is folded from the list
of entries. A Signal is shown, then gone. Nothing else travels from the loop to a front.

An entry's position in the list is its sequence number; `Compacted.keep_from` and `Rewound.to`
are such positions. A line of the log that cannot be read leaves a `Lost` in its place, so that
positions stay true. Fields are only ever added, with a default; kinds are never renamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from codeagent.core.call_events import Changed as Changed
from codeagent.core.call_events import Decided as Decided
from codeagent.core.call_events import Prepared as Prepared
from codeagent.core.call_events import Spent as Spent
from codeagent.core.call_events import ToolFinished as ToolFinished
from codeagent.core.call_events import ToolStarted as ToolStarted
from codeagent.core.fact import Fact as Fact
from codeagent.core.file_states import Saw as Saw
from codeagent.core.messages import Block, Document, Image, Text, ToolSchema, ToolUse, Usage
from codeagent.core.signals import CallDelta as CallDelta
from codeagent.core.signals import Delta as Delta
from codeagent.core.signals import Raw as Raw
from codeagent.core.signals import Signal as Signal
from codeagent.core.signals import TextDelta as TextDelta
from codeagent.core.signals import ThinkingDelta as ThinkingDelta
from codeagent.core.signals import ToolProgress as ToolProgress
from codeagent.core.views import Todo

FORMAT = 1
"""Version of the log format. A higher major version than ours is refused."""

Stop = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "context_window",
    "interrupted",
    "unknown",
]


class Opened(Fact, frozen=True, tag="opened"):
    """The session began. `system` and `tools` are frozen here and replayed byte for byte on resume."""

    session: str
    cwd: str
    system: tuple[str, ...]
    tools: tuple[ToolSchema, ...]
    model: str
    max_tokens: int
    effort: str = ""
    mode: str = "default"
    cache: Literal["5m", "1h"] = "5m"
    branch: str = ""
    headless: bool = False
    forked_from: str = ""
    codeagent: str = ""
    format: int = 1
    """A literal, and not `FORMAT`: a line without the field is of the first version for ever."""


class Titled(Fact, frozen=True, tag="titled"):
    """The session got a name."""

    title: str
    by: Literal["auto", "user"] = "auto"


class Switched(Fact, frozen=True, tag="switched"):
    """Mode, model, effort, output limit or feature set changed from here on; empty means unchanged."""

    mode: str = ""
    model: str = ""
    effort: str = ""
    max_tokens: int = 0
    without: tuple[str, ...] = ()
    """Features to leave out from here on, added to those left out before."""
    by: Literal["user", "server", "valve", "plan", "resume"] = "user"
    why: str = ""


class Queued(Fact, frozen=True, tag="queued"):
    """A message typed while the agent worked: kept until it is delivered (`UserSaid.queued`) or taken back."""

    id: str
    text: str
    when: Literal["step", "turn"] = "step"
    withdrawn: bool = False


class UserSaid(Fact, frozen=True, tag="user_said"):
    """The person's words, pictures included. `queued` is the id of the `Queued` that this delivers."""

    blocks: tuple[Text | Image | Document, ...]
    queued: str = ""

    @property
    def text(self) -> str:
        """The words alone."""
        return "\n".join(b.text for b in self.blocks if isinstance(b, Text))


class Asked(Fact, frozen=True, tag="asked"):
    """A request left. `digest` is the sha256 of the whole request in canonical form; the others are of its parts."""

    step: int
    model: str
    digest: str
    system: str
    tools: str
    messages: int
    max_tokens: int
    effort: str = ""
    purpose: Literal["step", "compaction", "title"] = "step"
    tail: tuple[str, ...] = ()
    """First 12 digits of the sha256 of each block in the last two messages: what was new, block by block."""
    focus: str = ""
    """What the person asked to keep in view, for a compaction."""


class Retried(Fact, frozen=True, tag="retried"):
    """An attempt failed and will be made again after `wait` seconds. Words already shown of it are void."""

    attempt: int
    of: int
    wait: float
    why: str
    category: str = "unknown"
    status: int = 0


class Heard(Fact, frozen=True, tag="heard"):
    """Words of a reply that still streams, put on record so that a kill loses little. The fold ignores it."""

    text: str
    thinking: bool = False


class AssistantSaid(Fact, frozen=True, tag="assistant_said"):
    """A reply, whole or cut short (`stop`). Only finished blocks are in it, and calls that were cut are not.

    `cost` is in dollars, None when the price is unknown; times are milliseconds.
    `void` replies are shown but never sent back (a refused one, a cut one that is asked again).
    `detail` says more about the stop (a refusal's category).
    """

    blocks: tuple[Block, ...]
    stop: Stop = "end_turn"
    usage: Usage = Usage()
    model: str = ""
    cost: float | None = None
    message_id: str = ""
    request_id: str = ""
    first_ms: int = 0
    took_ms: int = 0
    detail: str = ""
    cut: tuple[str, ...] = ()
    """Names of calls that were cut off and dropped."""
    void: bool = False
    miss: str = ""
    """Why the provider's cache missed (`messages_changed` ...), if it said so."""
    doubt: str = ""
    """What of the server's token counts cannot be true (`input_tokens: -5`): then none of them is in `usage`."""

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The calls in it, in order."""
        return tuple(b for b in self.blocks if isinstance(b, ToolUse))

    @property
    def text(self) -> str:
        """The words alone."""
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, Text) and b.text)


class Compacted(Fact, frozen=True, tag="compacted"):
    """Everything before position `keep_from` is now told by `summary`; `restored` are notes put back after it."""

    summary: str
    keep_from: int
    restored: tuple[str, ...] = ()
    trigger: Literal["auto", "manual", "overflow"] = "auto"
    before_tokens: int = 0
    after_tokens: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    open: tuple[str, ...] = ()
    """Requests of the user that are still open, word for word; they stand in the summary too."""


class Rewound(Fact, frozen=True, tag="rewound"):
    """The conversation goes on as if only the first `to` entries existed. Undone by rewinding to before this.

    With `files`, the files were put back to what they were at that point, which a `Changed` just before this tells.
    Without `conversation`, only they were.
    """

    to: int
    files: bool = False
    conversation: bool = True


class Noted(Fact, frozen=True, tag="noted"):
    """A word from codeagent: to the model (at the tail, for ever), to the person, or to both."""

    text: str
    to: Literal["model", "person", "both"] = "both"
    topic: str = ""
    """guidelines, mode, memory, file, cache, model, session, ... : what it is about."""
    level: Literal["info", "warning", "error"] = "info"
    digest: str = ""
    """Hash of what was told, so that it is told again only when it changed."""


class ValveClosed(Fact, frozen=True, tag="valve_closed"):
    """A valve stopped the loop. `raised` is the new limit if the person let it go on, else 0."""

    valve: Literal["steps", "tokens", "dollars", "no_progress", "seconds"]
    words: str
    limit: float = 0
    seen: float = 0
    raised: float = 0
    warning: bool = False
    """True for the warning at 80 %: nothing stopped."""


class TurnEnded(Fact, frozen=True, tag="turn_ended"):
    """The turn is over."""

    why: Literal["done", "interrupted", "failed", "valve", "refused"]
    detail: str = ""
    category: str = ""
    """For `failed`: the ModelError's category."""
    status: int = 0
    valve: str = ""
    steps: int = 0
    took_ms: int = 0


class Lost(Fact, frozen=True, tag="lost"):
    """A line of the log that could not be read, or is of a kind that this version does not know."""

    why: str
    raw: str = ""


class Earlier(Fact, frozen=True, tag="earlier"):
    """Stands in memory for entries of a long log that lie before its last summary and were not loaded; never written.

    `count` of them. What the meter would have counted of them, `cost` None when unknown; the last sight of each file,
    the shell's directory, and the todo list, as they stood at their end.
    """

    count: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    requests: int = 0
    tool_calls: int = 0
    turns: int = 0
    model_ms: int = 0
    tool_ms: int = 0
    turn_ms: int = 0
    saw: tuple[Saw, ...] = ()
    cwd: str = ""
    todo: Todo | None = None


NOT_LOADED = Earlier()
"""The one that fills the gaps: a log of 1 GB has 700,000, which loops over entries pass by with `is`."""

Entry = (
    Opened
    | Titled
    | Switched
    | Queued
    | UserSaid
    | Asked
    | Retried
    | Heard
    | AssistantSaid
    | Decided
    | ToolStarted
    | ToolFinished
    | Compacted
    | Rewound
    | Changed
    | Prepared
    | Spent
    | Noted
    | ValveClosed
    | TurnEnded
    | Lost
    | Earlier
)


class Recalled(Struct, frozen=True):
    """An old session's entries, told before it is made ready to go on, so that a screen can show them meanwhile."""

    entries: Sequence[Entry]


Event = Entry | Signal | Recalled
