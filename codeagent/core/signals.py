"""What is shown while it happens, then gone: words as they stream, output of running calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class TextDelta(Struct, frozen=True, omit_defaults=True):
    """The next words of the reply."""

    text: str


class ThinkingDelta(Struct, frozen=True, omit_defaults=True):
    """The next words of its reasoning."""

    text: str


class CallDelta(Struct, frozen=True, omit_defaults=True):
    """A call is being written: its name, and how many bytes of input so far."""

    use_id: str
    name: str
    received: int


class ToolProgress(Struct, frozen=True, omit_defaults=True):
    """A running call says something: the next piece of its output."""

    use_id: str
    text: str


class Raw(Struct, frozen=True, omit_defaults=True):
    """A provider's own stream event, for `--include-partial-messages`."""

    event: Mapping[str, Any]


Delta = TextDelta | ThinkingDelta | CallDelta | Raw
Signal = Delta | ToolProgress
