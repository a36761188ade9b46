"""One frame an event, without wall time and random ids: two runs of one script can be laid side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codeagent.core.clean import clean_line
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Changed,
    Decided,
    Entry,
    Heard,
    Noted,
    Opened,
    Queued,
    Titled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Text, Thinking, ToolUse
from codeagent.fronts import calls, present
from codeagent.sessions.comparing import place, plain

VERBS = {"allow": "allowed", "deny": "refused", "ask": "asked"}


def frames(entries: Sequence[Entry]) -> Iterator[str]:
    """The frames of a session in order, the same text every time; the project's directory and durations are left out.

    Words put on record while they streamed make no frame: how many there are depends on the clock, and the reply says
    them again.
    """
    here = place(entries)
    for position, entry in enumerate(entries):
        if not isinstance(entry, Heard):
            kind = type(entry).__struct_config__.tag
            head = f"{position:>5}  {kind:<15}"
            lines = [clean_line(plain(line, here)) for line in _lines(entry)] or [""]
            yield "\n".join([f"{head}  {lines[0]}".rstrip(), *(f"{'':<24}{line}".rstrip() for line in lines[1:])])


def _lines(entry: Entry) -> Iterator[str]:
    match entry:
        case Opened():
            yield f"{entry.model}, mode {entry.mode}, {len(entry.system)} system blocks, {len(entry.tools)} tools"
        case Titled(title=title):
            yield title
        case Queued(text=text, when=when, withdrawn=withdrawn):
            yield f"{'taken back' if withdrawn else f'for the end of the {when}'}: {text}"
        case UserSaid(text=text):
            yield from text.split("\n")
        case Asked():
            yield f"request of {present.count(entry.messages, 'message')}, sha256 {entry.digest[:12]}"
        case AssistantSaid():
            yield from _reply(entry)
        case Decided():
            rule = f" [{entry.rule}]" if entry.rule else ""
            yield f"{VERBS[entry.decision]} by {entry.by}: {entry.title}{rule}"
        case ToolStarted(tool=tool, title=title):
            yield f"{tool}: {title}"
        case ToolFinished():
            yield f"{entry.tool}: {calls.outcome(entry)}"
            yield from (text for _, text in calls.view(entry.view)) if entry.view else ()
        case TurnEnded(why=why, steps=steps):
            yield f"{why} after {present.count(steps, 'step')}"
        case Noted(text=text, to=to):
            yield f"to {to}: {text}"
        case _:
            yield from _others(entry)


def _others(entry: Entry) -> Iterator[str]:
    if isinstance(entry, Changed):
        yield from (change.path for change in entry.files)
    elif told := present.notice(entry):
        yield told[1]


def _reply(said: AssistantSaid) -> Iterator[str]:
    cached = f"{said.usage.cache_read:,} of {said.usage.prompt:,} tokens cached, {said.usage.output:,} written"
    yield f"{said.stop}, {cached}"
    for block in said.blocks:
        match block:
            case Text(text=text):
                yield from text.split("\n")
            case Thinking(text=text):
                yield from (f"(thinks) {line}" for line in text.split("\n") if line)
            case ToolUse():
                yield f"> {calls.spelled(block.name, block.input)}"
            case _:
                pass
