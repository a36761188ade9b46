"""When a conversation grows too long for the window: when to sum up, where to cut, what to ask for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core.conversation import live, request, tail
from codeagent.core.errors import CodeagentError
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Compacted,
    Entry,
    Noted,
    ToolFinished,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Message, Request, Text, ToolUse
from codeagent.core.ports import ModelInfo

INSTRUCTION = """Stop here and write a summary of this conversation, from which the work can be carried on without it. \
Do not call any tool; answer with the summary alone, under these headings:

1. Goal: what the user wants, with the exact words of every request that is still open.
2. Constraints and preferences of the user.
3. Decisions, each with its reason.
4. Files read, changed and created, with paths, and what matters in them.
5. Commands run and results that matter.
6. Errors and attempts that failed, so that they are not repeated.
7. State of the todo list.
8. Next step."""

OPENING = "The conversation up to here was summed up to save room. What matters of it:\n\n"
OPEN_REQUESTS = "\n\nOpen requests of the user, word for word:\n\n"
FLOOR = 0.8
"""A compaction that leaves more than this share of the context is not worth its price."""
PUT_BACK = 25_000
"""Tokens of recently touched files that come back after a compaction, all together."""
SUMMARY_TOKENS = 1_500
"""What a summary is likely to take, for the preview."""
FAILED = "compaction"
"""Topic of the note that a compaction did not work."""
PAUSE = 10
"""Replies after a failed compaction before the next is tried: each try costs the price of the whole context."""

Trigger = Literal["auto", "manual", "overflow"]


class Policy(Struct, frozen=True):
    """When to compact: `share` of the usable window, `reserve` tokens kept free, `keep` recent messages kept."""

    auto: bool = True
    share: float = 1.0
    reserve: int = 13_000
    keep: int = 4


class Cut(Struct, frozen=True):
    """What to ask for, and from which position the entries stay as they are."""

    ask: Request
    keep_from: int
    before_tokens: int
    kept_tokens: int
    open_requests: tuple[str, ...]
    focus: str = ""


class CompactionFailed(CodeagentError):
    """No summary came; everything stays as it was."""


def threshold(info: ModelInfo, policy: Policy) -> int:
    """The number of tokens at which the context counts as full."""
    full = info.window - min(info.max_output, info.window // 4) - min(policy.reserve, info.window // 10)
    return int(full * policy.share)


def size(entries: Sequence[Entry], info: ModelInfo) -> int:
    """Tokens of the next prompt: what the last reply reported, and an estimate of what came after it."""
    known = tail = 0
    for entry in reversed(entries):
        if isinstance(entry, Compacted):
            known = entry.after_tokens
            break
        if isinstance(entry, AssistantSaid) and entry.usage.total:
            known = entry.usage.total
            break
        tail += _characters(entry)
    return known + int(1.1 * tail / info.chars_per_token)


def _characters(entry: Entry) -> int:
    match entry:
        case UserSaid(blocks=blocks) | ToolFinished(blocks=blocks):
            return sum(len(b.text) if isinstance(b, Text) else 6_000 for b in blocks)
        case AssistantSaid(void=False):
            return len(entry.text) + sum(len(str(use.input)) for use in entry.uses)
        case Noted(text=text):
            return len(text)
        case _:
            return 0


def due(entries: Sequence[Entry], info: ModelInfo, policy: Policy) -> bool:
    """Whether to sum up before the next request: never twice without a reply between, and seldom after a failure."""
    if not policy.auto or size(entries, info) < threshold(info, policy):
        return False
    replies = 0
    for entry in reversed(entries):
        if isinstance(entry, Compacted):
            break
        if isinstance(entry, Noted) and entry.topic == FAILED:
            return replies >= PAUSE
        replies += isinstance(entry, AssistantSaid)
    return replies > 0


def plan(entries: Sequence[Entry], info: ModelInfo, policy: Policy, focus: str = "") -> Cut | None:
    """Where to cut: between steps, never between a call and its result. None when there is too little to sum up."""
    path = live(entries)
    starts = [p for p in path if isinstance(entries[p], UserSaid | AssistantSaid)]
    last = next((p for p in reversed(path) if isinstance(entries[p], Compacted)), -1)
    fresh = [p for p in starts if p > last]
    keep = fresh[-policy.keep :]
    # A tail that fills the window by itself would make the next compaction due at once.
    room = threshold(info, policy) * info.chars_per_token / 2
    while len(keep) > 1 and sum(_characters(e) for e in entries[keep[0] :]) > room:
        keep = keep[1:]
    if len(fresh) <= len(keep):
        return None
    keep_from = keep[0] if keep else len(entries)
    return Cut(
        ask=question(request(entries), focus),
        keep_from=keep_from,
        before_tokens=size(entries, info),
        kept_tokens=int(sum(_characters(e) for e in entries[keep_from:]) / info.chars_per_token),
        open_requests=_open_requests(entries, path, keep_from),
        focus=focus,
    )


def question(asked: Request, focus: str = "") -> Request:
    """The request for a summary: the same prefix with one instruction at its end, so that it is read at cache price."""
    instruction = INSTRUCTION + (f"\n\nThe user asks to keep in view: {focus}" if focus else "")
    messages = list(asked.messages)
    if messages and messages[-1].role == "user":
        messages[-1] = Message("user", (*messages[-1].blocks, Text(instruction)))
    else:
        messages.append(Message("user", (Text(instruction),)))
    return replace(asked, messages=tuple(messages))


def _open_requests(entries: Sequence[Entry], path: Sequence[int], keep_from: int) -> tuple[str, ...]:
    requests: list[str] = []
    for position in path:
        entry = entries[position]
        if isinstance(entry, TurnEnded) and entry.why == "done":
            requests.clear()
        elif isinstance(entry, Compacted):  # what lies before it may not be loaded any more
            requests += [words for words in entry.open if words not in requests]
        elif isinstance(entry, UserSaid) and position < keep_from and entry.text.strip():
            requests.append(entry.text)
    return tuple(requests)


def asked(cut: Cut, digest: str, system: str, tools: str) -> Asked:
    """The entry that records the request for a summary."""
    ask = cut.ask
    return Asked(
        0,
        ask.model,
        digest,
        system,
        tools,
        len(ask.messages),
        ask.max_tokens,
        ask.effort,
        "compaction",
        tail(ask),
        cut.focus,
    )


def outcome(cut: Cut, reply: AssistantSaid, info: ModelInfo, trigger: Trigger, restored: tuple[str, ...]) -> Compacted:
    """The entry that puts the reply in place of what is old. Raises CompactionFailed when that is worth nothing."""
    text = reply.text.strip()
    if not text or reply.stop in ("refusal", "max_tokens"):
        raise CompactionFailed("The conversation could not be summed up: the model gave no whole summary.")
    told = OPENING + with_open_requests(text, cut.open_requests)
    added = len(told) + sum(len(note) for note in restored)
    after = cut.kept_tokens + int(added / info.chars_per_token) + _fixed(cut.ask, info)
    if trigger == "auto" and after > FLOOR * cut.before_tokens:
        raise CompactionFailed("Summing up the conversation would free too little room.")
    return Compacted(
        told,
        cut.keep_from,
        restored,
        trigger,
        cut.before_tokens,
        after,
        reply.usage,
        reply.cost,
        cut.open_requests,
    )


def with_open_requests(text: str, requests: Sequence[str]) -> str:
    """The summary, and word for word what the user still waits for: no summary may lose that."""
    return text + OPEN_REQUESTS + "\n\n".join(requests) if requests else text


def preview(cut: Cut, info: ModelInfo, room: int) -> str:
    """What a compaction would do, for a person who is asked: tokens before and after, and its price at most.

    `room` is how many characters may be put back.
    """
    after = cut.kept_tokens + _fixed(cut.ask, info) + SUMMARY_TOKENS
    words = f"Sum up the older part of this conversation? From about {cut.before_tokens:,} tokens to {after:,}"
    if room:
        words += f", and up to {int(room / info.chars_per_token):,} for files put back"
    if info.price:
        warm = (cut.before_tokens * info.price.read + SUMMARY_TOKENS * info.price.output) / 1e6
        cold = (cut.before_tokens * info.price.write + SUMMARY_TOKENS * info.price.output) / 1e6
        words += f". It costs about ${warm:.2f}, ${cold:.2f} when the cache has expired"
    if cut.focus:
        words += f". In view: {cut.focus}"
    return words + "."


def room(info: ModelInfo, policy: Policy) -> int:
    """How many characters may be put back after a compaction: 25,000 tokens, or a quarter of a small window."""
    return int(min(PUT_BACK, threshold(info, policy) // 4) * info.chars_per_token)


def _fixed(ask: Request, info: ModelInfo) -> int:
    characters = sum(map(len, ask.system)) + sum(len(t.description) + len(str(t.input_schema)) for t in ask.tools)
    return int(characters / info.chars_per_token)


def shorter(ask: Request) -> Request | None:
    """The question over three quarters of the history: its newest part is kept word for word anyway."""
    messages = list(ask.messages[: len(ask.messages) * 3 // 4])
    while messages and (messages[-1].role == "user" or any(isinstance(b, ToolUse) for b in messages[-1].blocks)):
        messages.pop()
    if not messages:
        return None
    return replace(ask, messages=(*messages, Message("user", (Text(INSTRUCTION),))))
