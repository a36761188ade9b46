"""The stand-in that works with no key and no network: no language model, a few plain orders.

Each order becomes real tool calls, so that tools, dialogs, rules and sessions can be tried on any
project. Like a recorded model it remembers nothing between requests.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Block, Message, Request, Text, ToolResult, ToolUse
from codeagent.core.ports import ModelInfo, Price
from codeagent.models.speech import deltas, estimate, wants_summary

WHO = "I am the offline stand-in, not a language model: I know a few orders and understand nothing else."
ORDERS = """\
- `read FILE`
- `find TEXT`, or `find TEXT in FOLDER`
- `list **/*.py`
- `replace 'this' with 'that' in FILE`, or `replace all 'this' with 'that' in FILE`
- `run COMMAND`
- `help`

The tools, the questions that they ask, and this session are real."""

HINT = (
    "The offline stand-in is no language model. It knows: read FILE, find TEXT, list **/*.py, "
    "replace 'this' with 'that' in FILE, run COMMAND. / shows commands."
)
"""What a session with it begins with."""
WIDTH = 72
"""Columns of a failure's words: they are shown as code, which a screen breaks anywhere."""


class Order(Struct, frozen=True):
    """An understood order: the calls that carry it out, one after the other, and how its end is told."""

    lead: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    told: Callable[[str], str]


class Offline:
    """Implements ports.Model: deterministic, free, never fails."""

    def info(self, model: str) -> ModelInfo:
        """A window like that of a real model; nothing is paid."""
        return ModelInfo(model, "offline", 200_000, 32_000, Price(0, 0, 0, 0, 0), chars_per_token=4)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        """Make the next call of the order that was given, or tell how it ended."""
        blocks = (_sum_up(request.messages),) if wants_summary(request) else answer(request.messages)
        uses = any(isinstance(block, ToolUse) for block in blocks)
        said = AssistantSaid(blocks, "tool_use" if uses else "end_turn", model=request.model, cost=0.0)
        said = replace(said, usage=estimate(request, said))
        async for delta in deltas(said):
            yield delta
        yield said


def answer(messages: Sequence[Message]) -> tuple[Block, ...]:
    """What the stand-in says to this conversation."""
    at = max((i for i, message in enumerate(messages) if _words(message)), default=-1)
    words = _words(messages[at]) if at >= 0 else ""
    order = understand(words)
    if order is None:
        return (Text(f"{WHO}\n\nTry one of these:\n\n{ORDERS}"),)
    results = [block for message in messages[at + 1 :] for block in message.blocks if isinstance(block, ToolResult)]
    if results and results[-1].is_error:
        return (Text(_failed(_text(results[-1]))),)
    if len(results) >= len(order.calls):
        return (Text(order.told(_text(results[-1]))),)
    name, given = order.calls[len(results)]
    use = ToolUse(f"offline_{len(messages)}", name, given)
    return (Text(order.lead), use) if not results else (use,)


def _failed(text: str) -> str:
    """What a call that did not work says, with what an order can do about it."""
    lines = [row for line in text.splitlines() for row in textwrap.wrap(line, WIDTH, subsequent_indent="  ") or [""]]
    more = "\n\nTo change all of them: `replace all ... with ... in FILE`." if "replace_all" in text else ""
    return f"That did not work.\n\n{_tail(chr(10).join(lines))}{more}"


def _sum_up(messages: Sequence[Message]) -> Text:
    """What a compaction gets: the orders so far, without the instruction that asks for it."""
    orders = [block.text for m in messages if m.role == "user" for block in m.blocks if isinstance(block, Text)]
    return Text("The offline stand-in cannot sum up. The orders so far:\n\n" + _block(orders[:-1]))


def understand(words: str) -> Order | None:
    """The order in these words, None when they are none of ours."""
    for pattern, make in _FORMS:
        match = pattern.fullmatch(words.strip())
        if match:
            return make(match)
    return None


def _read(match: re.Match[str]) -> Order:
    path = _bare(match["file"])
    return Order(
        f"I'll read {path}.", (("read", {"file_path": path}),), lambda text: f"`read` gave {_count(text)} of {path}."
    )


def _find(match: re.Match[str]) -> Order:
    text = _bare(match["text"])
    given = {"pattern": re.escape(text), "output_mode": "content"}
    if match["where"]:
        given["path"] = _bare(match["where"])
    return Order(f"I'll look for “{text}”.", (("grep", given),), lambda found: f"`grep` says:\n\n{_head(found)}")


def _list(match: re.Match[str]) -> Order:
    pattern = _bare(match["pattern"])
    calls = (("glob", {"pattern": pattern}),)
    return Order(f"I'll list {pattern}.", calls, lambda found: f"`glob` says:\n\n{_head(found)}")


def _replace(match: re.Match[str]) -> Order:
    path, old, new = _bare(match["file"]), match["old"], match["new"]
    every = {"replace_all": True} if match["all"] else {}
    calls = (
        ("read", {"file_path": path}),
        ("edit", {"file_path": path, "old_string": old, "new_string": new, **every}),
    )
    return Order(f"I'll read {path} first, then change it.", calls, _first_line)


def _run(match: re.Match[str]) -> Order:
    command = match["command"]
    return Order("I'll run that.", (("bash", {"command": command}),), lambda text: f"`bash` says:\n\n{_tail(text)}")


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Order]], ...] = (
    (
        re.compile(
            r"replace (?P<all>all )?(['\"])(?P<old>.+?)\2 (?:with|by) (['\"])(?P<new>.*?)\4 in (?P<file>\S.*)",
            re.I | re.S,
        ),
        _replace,
    ),
    (re.compile(r"(?:read|show|open) (?P<file>\S[^\n]*)", re.I), _read),
    (re.compile(r"(?:find|grep|search(?: for)?) (?P<text>\S[^\n]*?)(?: in (?P<where>\S+))?", re.I), _find),
    (re.compile(r"(?:list|glob|ls) (?P<pattern>\S+)", re.I), _list),
    (re.compile(r"run (?P<command>\S.*)", re.I | re.S), _run),
)


def _words(message: Message) -> str:
    """What the person said in it; results and notes are not theirs."""
    if message.role != "user":
        return ""
    return "\n".join(block.text for block in message.blocks if isinstance(block, Text))


def _text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


def _bare(text: str) -> str:
    """Without quotes or backticks around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"`" else text


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing was said")


def _count(text: str) -> str:
    lines = len(text.splitlines())
    return "1 line" if lines == 1 else f"{lines} lines"


def _head(text: str, most: int = 5) -> str:
    lines = text.splitlines()
    more = [f"… {len(lines) - most} more"] if len(lines) > most else []
    return _block(lines[:most] + more)


def _tail(text: str, most: int = 5) -> str:
    lines = text.splitlines()
    more = [f"… {len(lines) - most} more"] if len(lines) > most else []
    return _block(more + lines[-most:])


def _block(lines: Sequence[str]) -> str:
    """As code, so that nothing in it counts as Markdown."""
    return "\n".join(f"    {line}" for line in lines)
