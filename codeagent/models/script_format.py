"""A script as data: the steps that a recorded model says, and the ways between them.

docs/scripts.md is the guide to its text form; `script_reader` reads that form, `recording` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from codeagent.core.errors import Category, ModelError
from codeagent.core.events import Stop
from codeagent.core.messages import Block, ToolUse, Usage

PLACEHOLDER = re.compile(r"\{\{\s*([\w-]+)\s*~\s?(.*?)\s*\}\}")
"""`{{SUBJECT ~ PATTERN}}`: stands for what the pattern found."""


class Part(Struct, frozen=True):
    """One block of a reply and the line that it stands on; placeholders are filled unless it is `verbatim`."""

    block: Block
    line: int
    verbatim: bool = False


class Go(Struct, frozen=True):
    """Where to go once the answer to a step is there; `subject` empty means always."""

    label: str
    line: int
    subject: str = ""
    pattern: str = ""


class Fail(Struct, frozen=True):
    """The model fails here; the fields are those of ModelError."""

    category: Category
    message: str = "The script says that this fails."
    status: int = 0
    retry_after: float | None = None
    feature: str = ""


class Step(Struct, frozen=True):
    """One reply. A step that holds nothing but `go` is a fork: it is passed through without a reply.

    `wait` is in seconds, `cost` in dollars (None: unknown); `usage` None means an estimate.
    """

    line: int
    parts: tuple[Part, ...] = ()
    go: tuple[Go, ...] = ()
    stop: Stop | None = None
    detail: str = ""
    cut: tuple[str, ...] = ()
    usage: Usage | None = None
    cost: float | None = 0.0
    fail: Fail | None = None
    wait: float = 0.0

    @property
    def fork(self) -> bool:
        """Whether it only decides where to go."""
        return bool(self.go) and not self.parts and self.fail is None and self.stop is None

    @property
    def calls(self) -> int:
        """How many calls it makes."""
        return sum(isinstance(part.block, ToolUse) for part in self.parts)


class Script(Struct, frozen=True):
    """A script, read: its name for error messages, its steps, where the labelled ones stand, its window in tokens."""

    name: str
    steps: tuple[Step, ...]
    labels: Mapping[str, int]
    window: int = 0
    """0 is a window like that of a real model."""

    def fault(self, line: int, message: str) -> ModelError:
        """An error that names the place."""
        return ModelError(f"{self.name}:{line}: {message}", category="script")
