"""Carries a compaction out: asks for the summary, lets a person see and change it, and puts it on record."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from codeagent.core import compaction
from codeagent.core.compaction import CompactionFailed, Cut, Trigger
from codeagent.core.conversation import digest, parameters
from codeagent.core.effects import AskSummary, AskValve
from codeagent.core.errors import CodeagentError, ContextOverflow
from codeagent.core.events import AssistantSaid, Compacted, Entry, Noted
from codeagent.core.journal import Journal
from codeagent.core.ports import Approver, Model, ModelInfo

LEFT = "Nothing was summed up, as you wished."


class Around(Protocol):
    """What a compaction takes from its agent."""

    @property
    def approver(self) -> Approver: ...

    @property
    def policy(self) -> compaction.Policy: ...

    def restored(self, tail: list[Entry], room: int) -> tuple[str, ...]:
        """Notes to put back, at most `room` characters of files; `tail` are the entries that stay."""
        ...


async def compact(journal: Journal, model: Model, around: Around, trigger: Trigger, focus: str = "") -> bool:
    """Sum up the conversation so far. False when that did not work: everything is as it was, and it says why.

    Only a person who asked for it (`manual`) is asked: before it costs anything, and for the summary.
    """
    info = model.info(parameters(journal.entries).model)
    cut = compaction.plan(journal.entries, info, around.policy, focus)
    if cut is None:
        return False
    room = compaction.room(info, around.policy)
    asking = trigger == "manual" and around.approver.attended
    try:
        if asking:
            await _wanted(around.approver, compaction.preview(cut, info, room))
        journal.append(compaction.asked(cut, digest(cut.ask), digest(cut.ask.system), digest(cut.ask.tools)))
        reply = await _summary(cut, model)
        made = compaction.outcome(cut, reply, info, trigger, around.restored(journal.entries[cut.keep_from :], room))
        journal.append(await _reviewed(around.approver, made, cut, info) if asking else made)
    except CodeagentError as fault:
        words = f"{fault} Everything is as it was."
        journal.append(Noted(words, to="person", topic=compaction.FAILED, level="warning"))
        return False
    return True


async def _wanted(approver: Approver, words: str) -> None:
    if (await approver.ask(AskValve("compaction", words, 0, 0))).verdict == "no":
        raise CompactionFailed(LEFT)


async def _reviewed(approver: Approver, made: Compacted, cut: Cut, info: ModelInfo) -> Compacted:
    """The summary as the person wants it. What is still open stays in it word for word."""
    price = f" It cost ${made.cost:.4f}." if made.cost else ""
    words = f"From {made.before_tokens:,} tokens to about {made.after_tokens:,}.{price}"
    answer = await approver.ask(AskSummary(made.summary, words))
    if answer.verdict == "no":
        raise CompactionFailed(LEFT)
    text = answer.words.strip()
    if not text or text == made.summary.strip():
        return made
    missing = tuple(words for words in cut.open_requests if words not in text)
    told = compaction.with_open_requests(text, missing)
    grown = int((len(told) - len(made.summary)) / info.chars_per_token)
    return replace(made, summary=told, after_tokens=max(1, made.after_tokens + grown))


async def _summary(cut: Cut, model: Model) -> AssistantSaid:
    ask = cut.ask
    for _ in range(4):
        try:
            async for part in model.stream(ask):
                if isinstance(part, AssistantSaid):
                    return part
        except ContextOverflow:
            shorter = compaction.shorter(ask)
            if shorter is None:
                break
            ask = shorter
    raise CompactionFailed("The conversation could not be summed up: even its beginning is too long for the model.")
