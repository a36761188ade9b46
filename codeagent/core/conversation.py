"""The next request is a function of the journal, and of nothing else.

The fold obeys the rules of the Messages API whatever happened to the session: every call is
answered in the next message, results come first, roles alternate, nothing is empty. What was
sent once is folded the same way for ever, so that caches and signed thinking stay valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from codeagent.core.events import (
    NOT_LOADED,
    AssistantSaid,
    Compacted,
    Entry,
    Noted,
    Opened,
    Rewound,
    Switched,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import (
    Block,
    Message,
    Note,
    Opaque,
    Request,
    Text,
    Thinking,
    ToolResult,
    ToolSchema,
    ToolUse,
)
from codeagent.core.unpictured import PICTURES, unpictured

NOT_RUN = "This call was not run: the turn was interrupted before it started."
UNKNOWN = (
    "The outcome of this call is unknown: it was cut off while it ran, so it may have happened, wholly or in part. "
    "Look at the current state before you do it again."
)
SILENT = "(no output)"
INTERRUPTED = "The user interrupted you here. Your reply above may be incomplete."


class Parameters(Struct, frozen=True):
    """What the session stands at: the last word of `Opened` and `Switched`."""

    system: tuple[str, ...] = ()
    tools: tuple[ToolSchema, ...] = ()
    model: str = ""
    effort: str = ""
    max_tokens: int = 0
    mode: str = "default"
    cache: str = "5m"
    without: tuple[str, ...] = ()


def parameters(entries: Sequence[Entry], so_far: Parameters | None = None) -> Parameters:
    """Fold `Opened` and `Switched`, going on from `so_far`. A rewind changes the conversation, not these."""
    now = so_far or Parameters()
    for entry in entries:
        if entry is NOT_LOADED:
            continue
        if isinstance(entry, Opened):
            now = Parameters(
                entry.system,
                entry.tools,
                entry.model,
                entry.effort,
                entry.max_tokens,
                entry.mode,
                entry.cache,
                now.without,
            )
        elif isinstance(entry, Switched):
            now = msgspec.structs.replace(
                now,
                mode=entry.mode or now.mode,
                model=entry.model or now.model,
                effort=entry.effort or now.effort,
                max_tokens=entry.max_tokens or now.max_tokens,
                without=(*now.without, *(f for f in entry.without if f not in now.without)),
            )
    return now


_STAYS = ("mode", "model", "effort")


def live(entries: Sequence[Entry]) -> list[int]:
    """Positions of the entries that count: a rewind drops what came after the point it went back to."""
    path: list[int] = []
    for position, entry in enumerate(entries):
        if isinstance(entry, Rewound) and entry.conversation:
            path = live(entries[: min(entry.to, position)])
        elif entry is not NOT_LOADED:
            path.append(position)
    return path


def standing(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that a person is shown of a session: what a rewind took back is left out.

    Mode, model and effort stay as they are through a rewind: where what is left says otherwise, a last entry tells it.
    """
    shown = [entries[position] for position in live(entries)]
    told, now = parameters(shown), parameters(entries)
    kept = {name: getattr(now, name) for name in _STAYS if getattr(now, name) != getattr(told, name)}
    return [*shown, Switched(**kept, why="the rewind left it so")] if kept else shown


def request(entries: Sequence[Entry]) -> Request:
    """The request that follows from these entries."""
    return Fold().request(entries)


def canonical(part: object) -> bytes:
    """Anything of ours as bytes: its JSON, or where a lone surrogate has none, what stands for it."""
    try:
        return msgspec.json.encode(part)
    except UnicodeEncodeError:  # from a file name or from cut JSON
        return repr(part).encode("utf-8", "backslashreplace")


def digest(part: object) -> str:
    """sha256 of anything in its canonical form."""
    return hashlib.sha256(canonical(part)).hexdigest()


def tail(asked: Request) -> tuple[str, ...]:
    """A short digest of each block of the last two messages, as `Asked.tail` keeps them."""
    return tuple(digest(block)[:12] for message in asked.messages[-2:] for block in message.blocks)


def messages(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The conversation: alternating roles, the user first."""
    return Fold().messages(entries)


class Fold:
    """The same function for a list that grows: what is settled is not folded again.

    Settled is everything before the latest reply: its results and what the user said since may still
    come, what lies before was sent and is never edited. A rewind or a compaction starts over. Tests
    hold it equal to folding from the start.
    """

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._seen = self._known = 0
        self._now = Parameters()
        self._path: list[int] = []
        self._settled: list[Message] = []
        self._opening: list[Block] = []
        self._thoughtless: frozenset[int] = frozenset()

    def request(self, entries: Sequence[Entry]) -> Request:
        """The request that follows from these entries."""
        now, told = self.parameters(entries), self.messages(entries)
        return Request(
            model=now.model,
            system=now.system,
            tools=now.tools,
            messages=told if PICTURES not in now.without else tuple(map(unpictured, told)),
            max_tokens=now.max_tokens,
            effort=now.effort,
            cache="1h" if now.cache == "1h" else "5m",
            without=now.without,
            previous=next((e.message_id for e in reversed(entries) if isinstance(e, AssistantSaid)), ""),
        )

    def parameters(self, entries: Sequence[Entry]) -> Parameters:
        """What the session stands at now."""
        fresh = len(entries) >= self._known
        self._now = parameters(entries[self._known :], self._now) if fresh else parameters(entries)
        self._known = len(entries)
        return self._now

    def messages(self, entries: Sequence[Entry]) -> tuple[Message, ...]:
        """The conversation so far. The list must be the one of the call before, or one that extends it."""
        fresh = entries[self._seen :]
        if len(entries) < self._seen or any(isinstance(entry, Rewound | Compacted) for entry in fresh):
            self._restart()
        if self._seen == 0:
            self._begin(entries)
        else:
            self._path.extend(range(self._seen, len(entries)))
        self._seen = len(entries)
        said, settled, rest = _fold(entries, self._path, self._settled, self._opening, self._thoughtless)
        if settled > len(self._settled):
            self._settled, self._path, self._opening = said[:settled], self._path[rest:], []
        return tuple(said)

    def _begin(self, entries: Sequence[Entry]) -> None:
        path = live(entries)
        at = next((i for i in reversed(range(len(path))) if isinstance(entries[path[i]], Compacted)), None)
        if at is None:
            self._path = path
            return
        cut = entries[path[at]]
        assert isinstance(cut, Compacted), "found as one above"
        self._path = [p for p in path[:at] if p >= cut.keep_from] + path[at + 1 :]
        self._opening = [Text(cut.summary), *(Note(text) for text in cut.restored if text.strip())]
        self._thoughtless = frozenset(path[:at])


def _fold(
    entries: Sequence[Entry],
    path: Sequence[int],
    settled: Sequence[Message],
    opening: Sequence[Block],
    thoughtless: frozenset[int],
) -> tuple[list[Message], int, int]:
    """All messages; how many of them are settled now, and where in `path` the rest begins."""
    said, mine, before, rest = list(settled), list(opening), len(settled), 0
    for at, user, blocks in _speech(entries, path, thoughtless):
        if user:
            mine.extend(blocks)
        elif said and not mine and said[-1].role == "assistant":
            said[-1] = Message("assistant", (*said[-1].blocks, *blocks))
        elif said or mine:
            if mine:
                said.append(Message("user", tuple(mine)))
                mine = []
            before, rest = len(said), at
            said.append(Message("assistant", tuple(blocks)))
    if mine:
        said.append(Message("user", tuple(mine)))
    return said, before, rest


def _speech(
    entries: Sequence[Entry], path: Sequence[int], thoughtless: frozenset[int]
) -> Iterator[tuple[int, bool, Sequence[Block]]]:
    """Who says what, in order: place in `path`, whether it is the user's side (results and notes too), blocks."""
    results = _Results(entries, path)
    for at, position in enumerate(path):
        match entries[position]:
            case UserSaid(blocks=blocks):
                yield at, True, [b for b in blocks if not _blank(b)]
            case Noted(to="model" | "both", text=text) if text.strip():
                yield at, True, [Note(text)]
            case TurnEnded(why="interrupted"):
                yield at, True, [Note(INTERRUPTED)]
            case AssistantSaid(void=False) as reply:
                sayable = _sayable(reply, thinking=position not in thoughtless)
                if sayable:
                    yield at, False, sayable
                    yield at, True, [results.of(use, position) for use in reply.uses]
            case _:
                pass


def _sayable(reply: AssistantSaid, *, thinking: bool) -> list[Block]:
    blocks = [b for b in reply.blocks if not _blank(b) and (thinking or not _is_thinking(b))]
    # Reasoning alone is no reply, and the API refuses a message without content.
    return blocks if any(not _is_thinking(b) for b in blocks) else []


def _is_thinking(block: Block) -> bool:
    return isinstance(block, Thinking) or (
        isinstance(block, Opaque) and block.data.get("type") in ("redacted_thinking", "thinking")
    )


def _blank(block: Block) -> bool:
    return isinstance(block, Text) and not block.text.strip()


class _Results:
    """The answer to each call: what came back, or what is known when nothing did."""

    def __init__(self, entries: Sequence[Entry], kept: Sequence[int]) -> None:
        self._finished: dict[str, list[tuple[int, ToolFinished]]] = {}
        self._started: dict[str, list[int]] = {}
        for position in kept:
            entry = entries[position]
            if isinstance(entry, ToolFinished):
                self._finished.setdefault(entry.use_id, []).append((position, entry))
            elif isinstance(entry, ToolStarted):
                self._started.setdefault(entry.use_id, []).append(position)

    def of(self, use: ToolUse, asked_at: int) -> ToolResult:
        for position, finished in self._finished.get(use.id, ()):
            if position > asked_at:
                content = tuple(b for b in finished.blocks if not _blank(b)) or (Text(SILENT),)
                return ToolResult(use.id, content, finished.is_error)
        started = any(position > asked_at for position in self._started.get(use.id, ()))
        return ToolResult(use.id, (Text(UNKNOWN if started else NOT_RUN),), is_error=True)
