"""What the next request is made of: a bill by block in tokens and dollars. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from codeagent.core.conversation import canonical
from codeagent.core.messages import Block, Document, Image, Note, Opaque, Request, Text, Thinking, ToolResult, ToolUse
from codeagent.core.ports import ModelInfo, Price

Category = Literal["system", "tools", "guidelines", "memory", "conversation", "tool results", "free", "reserve"]

CATEGORIES: tuple[Category, ...] = (
    "system",
    "tools",
    "guidelines",
    "memory",
    "conversation",
    "tool results",
    "free",
    "reserve",
)

PICTURE = 6_000
"""Characters that a picture counts for: about 1,800 tokens."""

_FILE = re.compile(r"^## (/.*)$", re.MULTILINE)


class Item(Struct, frozen=True):
    """One block, or all blocks of one kind: its tokens, and dollars a request when it is read from the cache.

    `dollars` is None when the price is unknown.
    """

    category: Category
    name: str
    tokens: int
    dollars: float | None


class Bill(Struct, frozen=True):
    """All of the next prompt. `used` is the sum of `items`; `window`, `free` and `reserve` are tokens.

    `warm` and `cold` are dollars for the prompt read from the cache, and written to it anew.
    """

    window: int
    used: int
    free: int
    reserve: int
    items: tuple[Item, ...]
    measured: bool
    warm: float | None
    cold: float | None
    priced: str = ""
    """The date of the prices."""

    def of(self, category: Category) -> int:
        """Tokens of a category."""
        if category in ("free", "reserve"):
            return self.free if category == "free" else self.reserve
        return sum(item.tokens for item in self.items if item.category == category)


class Headings(Struct, frozen=True):
    """The lines that begin the guidelines and the memory index in the system prompt."""

    guidelines: str
    memory: str


def bill(asked: Request, info: ModelInfo, headings: Headings, limit: int, measured: int = 0) -> Bill:
    """The bill of a request. Each block is estimated by its length, and all are scaled to what the provider counted.

    `limit` is the number of tokens at which the conversation is summed up; `measured` the last prompt as reported,
    with an estimate for what came after it (0: nothing was reported yet).
    """
    sizes = _sizes(asked, headings)
    characters = sum(sizes.values())
    scale = measured / characters if measured and characters else 1 / info.chars_per_token
    items = tuple(_item(*key, int(size * scale), info.price) for key, size in sizes.items())
    used = sum(item.tokens for item in items)
    reserve = max(0, min(info.window - limit, info.window - used))
    price = info.price
    return Bill(
        info.window,
        used,
        max(0, info.window - used - reserve),
        reserve,
        items,
        bool(measured),
        used * price.read / 1e6 if price else None,
        used * (price.write_1h if asked.cache == "1h" else price.write) / 1e6 if price else None,
        price.date if price else "",
    )


def _item(category: Category, name: str, tokens: int, price: Price | None) -> Item:
    return Item(category, name, tokens, tokens * price.read / 1e6 if price else None)


def _sizes(asked: Request, headings: Headings) -> Mapping[tuple[Category, str], int]:
    """Characters by category and name, in the order of the prompt."""
    sizes: dict[tuple[Category, str], int] = {}
    for category, name, size in _all(asked, headings):
        if size:
            sizes[category, name] = sizes.get((category, name), 0) + size
    return sizes


def _all(asked: Request, headings: Headings) -> Iterator[tuple[Category, str, int]]:
    for tool in asked.tools:
        yield "tools", tool.name, len(tool.description) + len(canonical(tool.input_schema))
    for block in asked.system:
        yield from _system(block, headings)
    names: dict[str, str] = {}
    for message in asked.messages:
        for part in message.blocks:
            if isinstance(part, ToolUse):
                names[part.id] = part.name
            yield _told(part, message.role, names)


def _system(block: str, headings: Headings) -> Iterator[tuple[Category, str, int]]:
    """A system block in its parts; the product's own words, and each guideline file."""
    either = f"{re.escape(headings.guidelines)}|{re.escape(headings.memory)}"
    head, *parts = re.split(f"^({either})$", block, flags=re.MULTILINE)
    yield "system", "instructions and surroundings", len(head)
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        if heading == headings.memory:
            yield "memory", "MEMORY.md", len(text)
            continue
        first, *files = _FILE.split(text)
        yield "guidelines", "heading", len(first.strip())
        for path, words in zip(files[::2], files[1::2], strict=True):
            yield "guidelines", path, len(words)


def _told(part: Block, role: str, names: Mapping[str, str]) -> tuple[Category, str, int]:
    match part:
        case ToolResult(tool_use_id=id_, content=content):
            return "tool results", names.get(id_, "tool"), sum(map(_length, content))
        case ToolUse(input=given):
            return "conversation", "its calls", len(canonical(given))
        case Note(text=text):
            return "conversation", "notes of codeagent", len(text)
        case Thinking(text=text, signature=signature):
            return "conversation", "its thinking", len(text) + len(signature)
        case Opaque(data=data):
            return "conversation", "other blocks", len(canonical(data))
        case Text() | Image() | Document():
            return "conversation", "your words" if role == "user" else "its words", _length(part)


def _length(part: Text | Image | Document) -> int:
    return len(part.text) if isinstance(part, Text) else PICTURE


def cells(made: Bill, count: int) -> tuple[Category, ...]:
    """The window as `count` cells of one category each, in order; what is there gets at least one cell."""
    kinds = [kind for kind in CATEGORIES if made.of(kind)]
    total = sum(made.of(kind) for kind in kinds) or 1
    share = {kind: max(1, round(count * made.of(kind) / total)) for kind in kinds}
    while share and sum(share.values()) != count:
        largest = max(share, key=lambda kind: share[kind])
        share[largest] += count - sum(share.values())
        if share[largest] < 1:
            share[largest] = 1
            break
    return tuple(kind for kind in kinds for _ in range(share[kind]))[:count]
