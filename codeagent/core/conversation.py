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

NOT_RUN = "This call was not run: the turn was interrupted before it started."
UNKNOWN = (
    "The outcome of this call is unknown: codeagent stopped while it ran, so it may have happened, wholly or in part. "
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


def parameters(entries: Sequence[Entry]) -> Parameters:
    """Fold `Opened` and `Switched`. A rewind changes the conversation, not these."""
    now = Parameters()
    for entry in entries:
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


def live(entries: Sequence[Entry]) -> list[int]:
    """Positions of the entries that count: a rewind drops what came after the point it went back to."""
    path: list[int] = []
    for position, entry in enumerate(entries):
        if isinstance(entry, Rewound):
            path = live(entries[: min(entry.to, position)])
        else:
            path.append(position)
    return path


def request(entries: Sequence[Entry]) -> Request:
    """The request that follows from these entries."""
    now = parameters(entries)
    return Request(
        model=now.model,
        system=now.system,
        tools=now.tools,
        messages=messages(entries),
        max_tokens=now.max_tokens,
        effort=now.effort,
        cache="1h" if now.cache == "1h" else "5m",
        without=now.without,
    )


def digest(part: object) -> str:
    """sha256 of anything in its canonical JSON form."""
    return hashlib.sha256(msgspec.json.encode(part)).hexdigest()


def messages(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The conversation: alternating roles, the user first."""
    said: list[Message] = []
    mine: list[Block] = []
    for user, blocks in _speech(entries):
        if user:
            mine.extend(blocks)
        elif said and not mine and said[-1].role == "assistant":
            said[-1] = Message("assistant", (*said[-1].blocks, *blocks))
        elif said or mine:
            if mine:
                said.append(Message("user", tuple(mine)))
                mine = []
            said.append(Message("assistant", tuple(blocks)))
    if mine:
        said.append(Message("user", tuple(mine)))
    return tuple(said)


def _speech(entries: Sequence[Entry]) -> Iterator[tuple[bool, Sequence[Block]]]:
    """Who says what, in order; True is the user's side, on which results and notes stand too."""
    path = live(entries)
    kept, cut = _after_compaction(entries, path)
    if cut is not None:
        yield True, [Text(cut.summary), *(Note(text) for text in cut.restored if text.strip())]
        before = path.index(_position(entries, path, cut))
        thoughtless = set(path[:before])
    else:
        thoughtless = set()
    results = _Results(entries, kept)
    for position in kept:
        match entries[position]:
            case UserSaid(blocks=blocks):
                yield True, [b for b in blocks if not _blank(b)]
            case Noted(to="model" | "both", text=text) if text.strip():
                yield True, [Note(text)]
            case TurnEnded(why="interrupted"):
                yield True, [Note(INTERRUPTED)]
            case AssistantSaid(void=False) as reply:
                sayable = _sayable(reply, thinking=position not in thoughtless)
                if sayable:
                    yield False, sayable
                    yield True, [results.of(use, position) for use in reply.uses]
            case _:
                pass


def _after_compaction(entries: Sequence[Entry], path: list[int]) -> tuple[list[int], Compacted | None]:
    for at in range(len(path) - 1, -1, -1):
        entry = entries[path[at]]
        if isinstance(entry, Compacted):
            return [p for p in path[:at] if p >= entry.keep_from] + path[at + 1 :], entry
    return path, None


def _position(entries: Sequence[Entry], path: Sequence[int], cut: Compacted) -> int:
    return next(p for p in reversed(path) if entries[p] is cut)


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
