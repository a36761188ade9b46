"""A Request as the body of a Messages API call: pure, and the same bytes for the same Request.

Only the cache marks move from one body to the next: leaving them aside, a request whose messages
extend another's gives a body whose messages extend the other's, so caches and signed thinking hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from codeagent.core.messages import (
    Block,
    Document,
    Image,
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
from codeagent.models.catalog import info

Body = dict[str, Any]

_BUDGET = 16_000
"""Thinking budget in tokens for models that want one; it must stay below the output limit."""

_LEAST_BUDGET = 1024

_UNMARKED = ("thinking", "redacted_thinking")
"""Blocks that take no cache mark."""


def body(request: Request, features: Collection[str], wired: Sequence[Body] | None = None) -> Body:
    """The body, all but `stream`; `features` are names from the capability table.

    `wired` are the request's tools as `tools` made them earlier: they never change in a session.
    """
    made: Body = {"model": request.model, "max_tokens": request.max_tokens}
    marked = mark(request, features)
    if system := [_text(words) for words in request.system if words.strip()]:
        made["system"] = system
        _cache(system[-1:], marked)
    if request.tools:
        ready = tools(request) if wired is None else wired
        made["tools"] = [*ready[:-1], dict(ready[-1])]  # the last one gets a mark of its own
        _cache(made["tools"][-1:], marked)
    made["messages"] = messages(request.messages, "mid_system" in features)
    _cache(_tails(made["messages"]), marked)
    made.update(_thinking(request.max_tokens, features))
    if "effort" in features and request.effort and request.effort in _levels(request.model):
        made["output_config"] = {"effort": request.effort}
    if "diagnostics" in features and request.previous:
        made["diagnostics"] = {"previous_message_id": request.previous}
    return made


def tools(request: Request) -> list[Body]:
    """The tools on the wire, without cache marks."""
    return [_tool(tool) for tool in request.tools]


def traces(made: Body, features: Collection[str]) -> frozenset[str]:
    """Those of the features that this body, or a header sent with it, really holds."""
    thinking = made.get("thinking", {})
    absent = {
        "mid_system": all(message["role"] != "system" for message in made["messages"]),
        "effort": "output_config" not in made,
        "diagnostics": "diagnostics" not in made,
        "adaptive_thinking": not thinking,
        "budget_thinking": not thinking,
        "thinking_display": "display" not in thinking,
    }
    return frozenset(name for name in features if not absent.get(name))


def _levels(model: str) -> tuple[str, ...]:
    return info(model).efforts or ("low", "medium", "high")


def _thinking(max_tokens: int, features: Collection[str]) -> Body:
    if "adaptive_thinking" in features:
        shown = {"display": "summarized"} if "thinking_display" in features else {}
        return {"thinking": {"type": "adaptive", **shown}}
    budget = min(_BUDGET, max_tokens // 2)
    if "budget_thinking" in features and budget >= _LEAST_BUDGET:
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {}


# --- cache marks -----------------------------------------------------------------------------


def mark(request: Request, features: Collection[str]) -> Body:
    """The cache mark of this request, empty when nothing is to be cached."""
    if "cache" not in features:
        return {}
    if request.cache == "1h" and "cache_1h" in features:
        return {"type": "ephemeral", "ttl": "1h"}
    return {"type": "ephemeral"}


def with_mark(message: Body, marked: Body) -> Body:
    """A copy of a user message with the mark on its last block that may have one."""
    content = list(message["content"])
    for at in range(len(content) - 1, -1, -1):
        if content[at]["type"] not in _UNMARKED:
            content[at] = {**content[at], "cache_control": marked}
            break
    return {**message, "content": content}


def _cache(blocks: Iterable[Body], mark: Body) -> None:
    for block in blocks:
        if mark:
            block["cache_control"] = mark


def _tails(messages: list[Body]) -> Iterator[Body]:
    """The last block of the newest user message and of the one before: the second is the net when a turn was long."""
    users = (message["content"] for message in reversed(messages) if message["role"] == "user")
    for content, _ in zip(users, range(2), strict=False):
        if markable := next((b for b in reversed(content) if b["type"] not in _UNMARKED), None):
            yield markable


# --- messages --------------------------------------------------------------------------------


def messages(told: Iterable[Message], mid_system: bool) -> list[Body]:
    """Messages on the wire, without cache marks."""
    made: list[Body] = []
    for message in told:
        if message.role == "user":
            made += _user(message.blocks, mid_system)
        elif content := list(_content(message.blocks)):
            made.append({"role": "assistant", "content": content})
    return made


def _user(blocks: tuple[Block, ...], mid_system: bool) -> Iterator[Body]:
    """One user message, or several with `system` messages between them.

    Results come first, as the API wants them. Leading notes move behind the first words, because
    a system message cannot open a conversation or come between a call and its result.
    """
    told = [b for b in blocks if not _empty(b)]
    ordered = sorted(told, key=lambda b: not isinstance(b, ToolResult))  # stable: the rest keeps its order
    if not mid_system or all(isinstance(b, Note) for b in ordered):
        if ordered:
            yield {"role": "user", "content": list(_content(ordered))}
        return
    for run in _runs(_words_first(ordered)):
        notes = [_text(block.text) for block in run if isinstance(block, Note)]
        yield {"role": "system", "content": notes} if notes else {"role": "user", "content": list(_content(run))}


def _words_first(blocks: list[Block]) -> list[Block]:
    """The same blocks with leading notes behind the first run of other blocks."""
    first = next(i for i, block in enumerate(blocks) if not isinstance(block, Note))
    after = next((i for i in range(first, len(blocks)) if isinstance(blocks[i], Note)), len(blocks))
    return [*blocks[first:after], *blocks[:first], *blocks[after:]]


def _runs(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks in runs that are all notes or hold none."""
    for _, run in groupby(blocks, key=lambda block: isinstance(block, Note)):
        yield list(run)


# --- blocks ----------------------------------------------------------------------------------


def _content(blocks: Iterable[Block]) -> Iterator[Body]:
    """Blocks on the wire, without blank text: the API refuses it."""
    return (_block(block) for block in blocks if not _empty(block))


def _empty(block: Block) -> bool:
    return isinstance(block, Text | Note) and not block.text.strip()


def _block(block: Block) -> Body:
    match block:
        case Text(text, extra):
            return {**_text(text), **_scrubbed(extra)}
        case Thinking(text, signature, extra):
            return {"type": "thinking", "thinking": _scrub(text), "signature": signature, **_scrubbed(extra)}
        case ToolUse(id, name, input, malformed, extra):
            return {
                "type": "tool_use",
                "id": id,
                "name": name,
                "input": {} if malformed else _scrubbed(input),
                **_scrubbed(extra),
            }
        case ToolResult():
            return _result(block)
        case Image(media_type, data):
            return {"type": "image", "source": _base64(media_type, data)}
        case Document(media_type, data, name):
            titled = {"title": _scrub(name)} if name else {}
            return {"type": "document", "source": _base64(media_type, data), **titled}
        case Note(text):
            return _text(f'<note from="codeagent">\n{text}\n</note>')
        case Opaque(data):
            return dict(_scrubbed(data))


def _result(block: ToolResult) -> Body:
    made: Body = {"type": "tool_result", "tool_use_id": block.tool_use_id}
    if content := list(_content(block.content)):
        made["content"] = content
    if block.is_error:
        made["is_error"] = True
    return made


def _text(text: str) -> Body:
    return {"type": "text", "text": _scrub(text)}


def _base64(media_type: str, data: str) -> Body:
    return {"type": "base64", "media_type": media_type, "data": data}


def _tool(tool: ToolSchema) -> Body:
    return {
        "name": tool.name,
        "description": _scrub(tool.description),
        "input_schema": _scrubbed(tool.input_schema),
    }


def _scrub(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate (from a file name, from cut JSON) becomes `?`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return _scrub(value)
    if isinstance(value, dict):
        return {_scrub(key): _scrubbed(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(part) for part in value]
    return value
