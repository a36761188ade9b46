"""What an eye may see of an effect or a result: plain data that every front can draw."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Plain(Struct, frozen=True, tag_field="type", tag="plain", omit_defaults=True):
    """Text with no further structure."""

    text: str


class Hunk(Struct, frozen=True, omit_defaults=True):
    """A run of changed lines with context. Each line starts with ' ', '-' or '+'; numbers are 1-based."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]


class Diff(Struct, frozen=True, tag_field="type", tag="diff", omit_defaults=True):
    """A change of one file. `omitted` counts diff lines left out because the change is huge."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    created: bool = False
    omitted: int = 0


class Shell(Struct, frozen=True, tag_field="type", tag="shell", omit_defaults=True):
    """A command and, once it ran, its output (as the model got it) and exit code."""

    command: str
    cwd: str = ""
    output: str = ""
    exit_code: int | None = None


class Listing(Struct, frozen=True, tag_field="type", tag="listing", omit_defaults=True):
    """Lines found: paths or `path:line:text`."""

    lines: tuple[str, ...]
    omitted: int = 0


class TodoItem(Struct, frozen=True, omit_defaults=True):
    """One thing to do."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class Todo(Struct, frozen=True, tag_field="type", tag="todo", omit_defaults=True):
    """The whole todo list as it stands now."""

    items: tuple[TodoItem, ...]


View = Plain | Diff | Shell | Listing | Todo
