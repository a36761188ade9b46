"""A local validator of an outgoing Messages API body: every rule whose breach is known to give a 400 or 413."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from codeagent.models import catalog, features

MAX_BYTES = 32 * 1024 * 1024
"""Largest body in bytes."""

MAX_MESSAGES = 100_000
MAX_IMAGES = 600
MAX_MARKS = 4

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GONE = ("temperature", "top_p", "top_k")
_KNOWN = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "stream",
    "metadata", "diagnostics", "cache_control", "stop_sequences", "service_tier", "context_management", "container",
}  # fmt: skip
_BLOCK_KEYS = {
    "text": {"type", "text", "cache_control", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
}

Body = Mapping[str, Any]
Blocks = Sequence[tuple[str, Body]]
"""Blocks with their paths (`messages.2.content.0`)."""


def problems(body: Body) -> list[str]:
    """Everything wrong with this body, in the words of the API where they are known; empty when it is fine."""
    blocks = list(_blocks(body))
    return [
        *_frame(body),
        *_tools(body, blocks),
        *_system(body),
        *_order(body),
        *_pairs(body["messages"] if _is_list(body.get("messages")) else []),
        *_contents(blocks),
        *_roles(body),
        *_marks(body, blocks),
        *_thinking(body),
        *_sizes(body, blocks),
    ]


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _frame(body: Body) -> Iterator[str]:
    for key in body:
        if key in _GONE:
            yield f"{key}: no longer supported"
        elif key not in _KNOWN:
            yield f"{key}: Extra inputs are not permitted"
    if not body.get("model"):
        yield "model: Field required"
    limit = body.get("max_tokens")
    known = catalog.info(str(body.get("model")))
    if not isinstance(limit, int) or limit < 1:
        yield "max_tokens: must be at least 1"
    elif known.price and limit > known.max_output:
        yield f"max_tokens: {limit} > {known.max_output}, which is the maximum for {body['model']}"
    if not body.get("messages"):
        yield "messages: at least one message is required"
    forced = body.get("tool_choice")
    if forced and forced.get("type") in ("any", "tool"):
        yield "tool_choice: forcing a tool is not supported"


# --- tools and system ------------------------------------------------------------------------


def _tools(body: Body, blocks: Blocks) -> Iterator[str]:
    names = [str(tool.get("name", "")) for tool in body.get("tools") or ()]
    for at, tool in enumerate(body.get("tools") or ()):
        if not _NAME.fullmatch(names[at]):
            yield f"tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            yield f"tools.{at}.input_schema.type: Input should be 'object'"
        elif any(key in schema for key in ("oneOf", "anyOf", "allOf")):
            yield f"tools.{at}.input_schema: a union is not supported at the top level"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    if not names and any(b.get("type") in ("tool_use", "tool_result") for _, b in blocks):
        yield "tools: must be defined when messages hold tool blocks"


def _system(body: Body) -> Iterator[str]:
    system = body.get("system")
    for at, block in enumerate(system if _is_list(system) else ()):
        if block.get("type") != "text" or not str(block.get("text", "")).strip():
            yield f"system.{at}: text content blocks must be non-empty"


# --- messages --------------------------------------------------------------------------------


def _content(message: Body) -> Sequence[Body]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if _is_list(content) else []


def _blocks(body: Body) -> Iterator[tuple[str, Body]]:
    """Every block of the messages with its path, parts of results included."""
    for at, message in enumerate(body.get("messages") or ()):
        for within, block in enumerate(_content(message)):
            path = f"messages.{at}.content.{within}"
            yield path, block
            parts = block.get("content") if block.get("type") == "tool_result" else None
            for part, inner in enumerate(parts if isinstance(parts, list) else ()):
                yield f"{path}.content.{part}", inner


def _order(body: Body) -> Iterator[str]:
    messages = body.get("messages") or ()
    takes_system = "mid_system" in features.wanted(str(body.get("model")))
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant", "system"):
            yield f"messages.{at}.role: Input should be 'user' or 'assistant'"
        if role == "system":
            yield from _placed(messages, at, takes_system)
        if not _content(message):
            yield f"messages.{at}: content must not be empty"
    if messages and messages[0].get("role") == "assistant":
        yield "messages.0: first message must use the user role"
    if messages and messages[-1].get("role") == "assistant" and not _pending(messages[-1]):
        yield "messages: the conversation must end with a user message; prefill is not supported"


def _placed(messages: Sequence[Body], at: int, takes_system: bool) -> Iterator[str]:
    if not takes_system:
        yield f"messages.{at}.role: role 'system' is not supported on this model"
    if at == 0:
        yield "messages.0.role: role 'system' cannot be first"
    elif messages[at - 1].get("role") == "assistant":
        yield f"messages.{at}.role: role 'system' must follow a user message"
    following = _content(messages[at + 1]) if at + 1 < len(messages) else ()
    if any(block.get("type") == "tool_result" for block in following):
        yield f"messages.{at}.role: role 'system' cannot stand before a tool_result"


def _pending(message: Body) -> bool:
    """A paused turn: a server tool without its result may be sent back as it is."""
    content = _content(message)
    answered = {block.get("tool_use_id") for block in content}
    return any(b.get("type") == "server_tool_use" and b.get("id") not in answered for b in content)


def _pairs(messages: Sequence[Body]) -> Iterator[str]:
    """Every call answered in the next user message, every answer asked for, answers first, ids unique."""
    seen: set[str] = set()
    open_: list[str] = []
    merged = False
    for at, message in enumerate(messages):
        content = _content(message)
        if message.get("role") == "assistant":
            if open_:
                yield _unanswered(at - 1, open_)
            ids = [str(b.get("id")) for b in content if b.get("type") == "tool_use"]
            if len(set(ids)) < len(ids) or seen & set(ids):
                yield f"messages.{at}: `tool_use` ids must be unique"
            seen.update(ids)
            open_, merged = ids, False
        elif message.get("role") == "user":
            yield from _answers(at, content, open_, merged)
            given = {b.get("tool_use_id") for b in content if b.get("type") == "tool_result"}
            if missing := [use for use in open_ if use not in given]:
                yield _unanswered(at - 1, missing)
            open_, merged = [], True
    if open_:
        yield _unanswered(len(messages) - 1, open_)


def _unanswered(at: int, ids: Sequence[str]) -> str:
    return (
        f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _answers(at: int, content: Sequence[Body], asked: Sequence[str], merged: bool) -> Iterator[str]:
    others = False
    given: list[str] = []
    for within, block in enumerate(content):
        if block.get("type") != "tool_result":
            others = True
            continue
        use = str(block.get("tool_use_id"))
        if use not in asked or merged:
            yield (
                f"messages.{at}.content.{within}: unexpected `tool_use_id` found in `tool_result` blocks: {use}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if others:
            yield f"messages.{at}.content.{within}: `tool_result` blocks must come first"
        if use in given:
            yield f"messages.{at}.content.{within}: each tool_use must have a single result"
        given.append(use)


def _contents(blocks: Blocks) -> Iterator[str]:
    for path, block in blocks:
        kind = block.get("type")
        if not isinstance(kind, str):
            yield f"{path}.type: Field required"
            continue
        if kind == "text" and not str(block.get("text", "")).strip():
            yield f"{path}: text content blocks must contain non-whitespace text"
        if kind == "tool_use" and not isinstance(block.get("input"), Mapping):
            yield f"{path}.tool_use.input: Input should be a valid dictionary"
        if kind == "tool_use" and not _NAME.fullmatch(str(block.get("name", ""))):
            yield f"{path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        for key in block.keys() - _BLOCK_KEYS.get(kind, block.keys()):
            yield f"{path}.{kind}.{key}: Extra inputs are not permitted"


def _roles(body: Body) -> Iterator[str]:
    barred = {
        "assistant": ("tool_result", "document", "image"),
        "user": ("tool_use", "thinking", "redacted_thinking"),
        "system": ("tool_use", "tool_result", "thinking", "image", "document"),
    }
    for at, message in enumerate(body.get("messages") or ()):
        role = str(message.get("role"))
        for within, block in enumerate(_content(message)):
            if block.get("type") in barred.get(role, ()):
                yield f"messages.{at}.content.{within}: {block['type']} blocks are not allowed in {role} messages"
            if role == "user" and block.get("type") == "text" and "citations" in block:
                yield f"messages.{at}.content.{within}.citations: not allowed in user messages"


# --- the rest --------------------------------------------------------------------------------


def _marked(body: Body, blocks: Blocks) -> Iterator[tuple[str, Body]]:
    """Every block that has a cache mark, in the order in which the prompt is read."""
    system = body.get("system")
    parts = [(f"tools.{at}", tool) for at, tool in enumerate(body.get("tools") or ())]
    parts += [(f"system.{at}", block) for at, block in enumerate(system if isinstance(system, list) else ())]
    return ((path, block) for path, block in (*parts, *blocks) if "cache_control" in block)


def _marks(body: Body, blocks: Blocks) -> Iterator[str]:
    marked = list(_marked(body, blocks))
    if len(marked) > MAX_MARKS:
        yield f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(marked)}."
    short = False
    for path, block in marked:
        kind, mark = block.get("type"), block["cache_control"]
        if kind in ("thinking", "redacted_thinking"):
            yield f"{path}.{kind}.cache_control: Extra inputs are not permitted"
        if kind == "text" and not block.get("text"):
            yield f"{path}: cache_control cannot be set for empty text blocks"
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            yield f"{path}.cache_control: must be ephemeral, with a ttl of 5m or 1h"
        if mark.get("ttl") == "1h" and short:
            yield f"{path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
        short = short or mark.get("ttl", "5m") == "5m"


def _thinking(body: Body) -> Iterator[str]:
    model = str(body.get("model"))
    takes = features.wanted(model)
    thinking = body.get("thinking") or {}
    match thinking.get("type"):
        case "adaptive" if catalog.family(model) and "adaptive_thinking" not in takes:
            yield "thinking: adaptive thinking is not supported on this model"
        case "enabled":
            budget = thinking.get("budget_tokens", 0)
            if catalog.family(model) and "budget_thinking" not in takes:
                yield "thinking.type: 'enabled' is not supported on this model. Use 'adaptive'."
            if not 1024 <= budget < body.get("max_tokens", 0):
                yield "thinking.enabled.budget_tokens: must be at least 1024 and less than max_tokens"
    effort = (body.get("output_config") or {}).get("effort")
    levels = catalog.info(model).efforts
    if effort and catalog.family(model) and effort not in levels:
        supported = f"Supported levels: {', '.join(sorted(levels))}." if levels else "It has no effort parameter."
        yield f"This model does not support effort level '{effort}'. {supported}"


def _sizes(body: Body, blocks: Blocks) -> Iterator[str]:
    try:
        size = len(json.dumps(body, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        yield "the body holds a lone surrogate, which UTF-8 cannot"
        return
    except ValueError:
        yield "the body holds NaN or an infinity, which JSON cannot"
        return
    if size > MAX_BYTES:
        yield f"the body has {size} bytes, more than {MAX_BYTES}"
    if len(body.get("messages") or ()) > MAX_MESSAGES:
        yield f"messages: more than {MAX_MESSAGES}"
    images = sum(block.get("type") == "image" for _, block in blocks)
    limit = 100 if catalog.info(str(body.get("model"))).window <= 200_000 else MAX_IMAGES
    if images > limit:
        yield f"messages: {images} images, more than {limit}"
