"""What a model reads and writes: blocks in order, kept verbatim.

The types name no provider. Whatever a provider puts into a block beyond these fields stays in
`extra`, and a block that we do not know stays whole in `Opaque`, so that what was heard can be
said back unchanged (signed thinking and caches depend on it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

Json = Mapping[str, Any]


class Text(Struct, frozen=True, tag_field="type", tag="text", omit_defaults=True):
    """Words. `extra` holds provider fields such as citations."""

    text: str
    extra: Json = {}


class Thinking(Struct, frozen=True, tag_field="type", tag="thinking", omit_defaults=True):
    """Reasoning with the provider's signature; echoed verbatim, empty text included."""

    text: str
    signature: str = ""
    extra: Json = {}


class Image(Struct, frozen=True, tag_field="type", tag="image", omit_defaults=True):
    """A validated picture: media type such as `image/png`, and base64 data."""

    media_type: str
    data: str


class Document(Struct, frozen=True, tag_field="type", tag="document", omit_defaults=True):
    """A validated document (PDF): media type and base64 data."""

    media_type: str
    data: str
    name: str = ""


class ToolUse(Struct, frozen=True, tag_field="type", tag="tool_use", omit_defaults=True):
    """A call. `malformed` is the raw text when the input was no JSON object; such a call never runs."""

    id: str
    name: str
    input: Json
    malformed: str = ""
    extra: Json = {}


class ToolResult(Struct, frozen=True, tag_field="type", tag="tool_result", omit_defaults=True):
    """The one answer to the call with this id."""

    tool_use_id: str
    content: tuple[Text | Image | Document, ...]
    is_error: bool = False


class Note(Struct, frozen=True, tag_field="type", tag="note", omit_defaults=True):
    """A word from codeagent itself to the model, inside a user message (a reminder, a changed file)."""

    text: str


class Opaque(Struct, frozen=True, tag_field="type", tag="opaque", omit_defaults=True):
    """A block of a kind that we do not know, whole, as its provider sent it."""

    data: Json


Block = Text | Thinking | Image | Document | ToolUse | ToolResult | Note | Opaque


class Message(Struct, frozen=True, omit_defaults=True):
    """One side's turn of speech. Consecutive messages always have different roles."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


class ToolSchema(Struct, frozen=True, omit_defaults=True):
    """A tool as the model sees it; `input_schema` is a JSON schema with an object at its root."""

    name: str
    description: str
    input_schema: Json


class Request(Struct, frozen=True, omit_defaults=True):
    """Everything that one model request depends on; adapters turn it into their wire format.

    `system` is a tuple of blocks, the stable ones first. `without` names optional features that
    were refused by the server in this session and must not be sent again. `cache` is the
    lifetime wanted for the prefix. `previous` is the provider's id of the reply before, if it is
    known: a provider can then say why its cache missed.
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[ToolSchema, ...]
    messages: tuple[Message, ...]
    max_tokens: int
    effort: str = ""
    cache: Literal["5m", "1h"] = "5m"
    without: tuple[str, ...] = ()
    previous: str = ""


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one reply. `input` excludes cached ones: prompt = input + cache_read + cache_write + cache_write_1h."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h

    @property
    def total(self) -> int:
        """Prompt and output together."""
        return self.prompt + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_1h + other.cache_write_1h,
        )
