"""Where a script stands, and what it was told, found from the messages of a request alone.

Nothing is remembered between requests, so a session that was killed, resumed, rewound or forked
goes on at the right step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from codeagent.core.messages import Message, Note, Text, ToolResult, ToolUse
from codeagent.models.script_format import PLACEHOLDER, Go, Script

_OUR_ID = re.compile(r"step(\d+)_(\d+)_\d+")
"""Call ids name the step and the reply, counted from 1: a place is found again after a compaction too."""


SUMMARY = "summary"
"""The label of the step that answers a compaction; nothing else leads to it but a `go`."""


class Heard(Struct, frozen=True):
    """A piece of what the model was told: a tool's result, the person's words or a note."""

    subjects: tuple[str, ...]
    text: str


def find(script: Script, messages: Sequence[Message], *, summary: bool = False) -> tuple[int, int]:
    """The step to say now (its index) and the number of this reply. Raises ModelError at the script's end.

    `summary`: a compaction asks, and the step with that label answers.

    Replies are counted off against the steps, with every `go` decided again. A reply that lacks
    calls of its step was cut short: its step is said again.
    """
    step, reply, again = -1, 0, False
    for at, message in enumerate(messages):
        if message.role == "user":
            continue
        named = _named(script, message)
        if named:
            step, reply = named
        else:
            step = step if again else _after(script, step, messages[:at])
            reply += 1
        step, reply = _past_pauses(script, step, reply, message)
        again = step < len(script.steps) and _calls(message) < script.steps[step].calls
    if summary:
        if SUMMARY not in script.labels:
            raise script.fault(1, f"a summary is asked for, and no step is called {SUMMARY!r}")
        return script.labels[SUMMARY], reply + 1
    step = step if again else _after(script, step, messages)
    if step >= len(script.steps):
        last = script.steps[-1].line if script.steps else 1
        raise script.fault(
            last, f"the script is at its end: reply {reply + 1} is asked for, and no step is left for it"
        )
    return step, reply + 1


def fill(script: Script, line: int, value: Any, messages: Sequence[Message]) -> Any:
    """The text, or JSON value, with each placeholder replaced by what its pattern found, the newest answer first."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda match: _look_up(script, line, match, messages), value)
    if isinstance(value, Mapping):
        return {key: fill(script, line, item, messages) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(script, line, item, messages) for item in value]
    return value


def _named(script: Script, message: Message) -> tuple[int, int] | None:
    """Step and reply number as its call ids tell them."""
    for block in reversed(message.blocks):
        match = _OUR_ID.fullmatch(block.id) if isinstance(block, ToolUse) else None
        if match and int(match[1]) <= len(script.steps):
            return int(match[1]) - 1, int(match[2])
    return None


def _past_pauses(script: Script, step: int, reply: int, message: Message) -> tuple[int, int]:
    """The last step in this message: after `stop pause_turn` the next reply stands in the same one."""
    left = len(message.blocks)
    while step < len(script.steps) - 1 and script.steps[step].stop == "pause_turn":
        left -= len(script.steps[step].parts)
        if left <= 0:
            break
        step, reply = step + 1, reply + 1
    return step, reply


def _calls(message: Message) -> int:
    return sum(isinstance(block, ToolUse) for block in message.blocks)


def _after(script: Script, step: int, messages: Sequence[Message]) -> int:
    """The step that follows, its number of steps when none does."""
    heard = tuple(_answer(messages))
    ways: tuple[Go, ...] = script.steps[step].go if 0 <= step < len(script.steps) else ()
    step = _choose(script, step, ways, heard)
    passed = 0
    while step < len(script.steps) and script.steps[step].fork:
        if passed >= len(script.steps):
            line = script.steps[step].line
            raise script.fault(line, "the ways from here lead in a circle; wanted a step that says something")
        passed += 1
        step = _choose(script, step, script.steps[step].go, heard)
    return step


def _choose(script: Script, step: int, ways: Sequence[Go], heard: Sequence[Heard]) -> int:
    for go in ways:
        if not go.subject or _search(go.subject, go.pattern, heard):
            return script.labels[go.label]
    following = step + 1 if script.labels.get(SUMMARY) != step + 1 else step + 2
    return min(following, len(script.steps))


def _answer(messages: Sequence[Message]) -> Iterator[Heard]:
    """What the last message says to the model, if it is the user's side that spoke."""
    if not messages or messages[-1].role != "user":
        return
    before = messages[-2].blocks if len(messages) > 1 else ()
    names = {block.id: block.name for block in before if isinstance(block, ToolUse)}
    for block in messages[-1].blocks:
        match block:
            case ToolResult():
                text = "\n".join(part.text for part in block.content if isinstance(part, Text))
                name = names.get(block.tool_use_id, "")
                yield Heard(("result", name, "error" if block.is_error else "success"), text)
            case Text():
                yield Heard(("user",), block.text)
            case Note():
                yield Heard(("note",), block.text)
            case _:
                pass


def _search(subject: str, pattern: str, heard: Sequence[Heard]) -> re.Match[str] | None:
    found = (re.search(pattern, item.text, re.MULTILINE) for item in heard if subject in item.subjects)
    return next((match for match in found if match), None)


def _look_up(script: Script, line: int, placeholder: re.Match[str], messages: Sequence[Message]) -> str:
    subject, pattern = placeholder[1], placeholder[2]
    for end in range(len(messages), 0, -1):
        match = _search(subject, pattern, tuple(_answer(messages[:end])))
        if match:
            return str(match[1] if match.re.groups else match[0])
    heard = next((item.text for item in _answer(messages) if subject in item.subjects), None)
    came = f"the last {subject} begins {heard[:80]!r}" if heard is not None else f"there was no {subject}"
    raise script.fault(line, f"nothing matches {subject} ~ {pattern}; {came}")
