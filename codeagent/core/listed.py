"""What lists show: a session, a command in the background, a setting, a finding of doctor."""

from __future__ import annotations

from msgspec import Struct


class Listed(Struct, frozen=True):
    """A session in a list. `when` is seconds since the epoch of its last event; `cost` None when unknown."""

    id: str
    title: str
    when: float
    branch: str = ""
    model: str = ""
    cost: float | None = None
    turns: int = 0
    size: int = 0
    headless: bool = False
    cwd: str = ""
    path: str = ""


class ListedJob(Struct, frozen=True):
    """A command in the background. `code` is its exit code, None while it runs; `file` has all its output."""

    id: str
    command: str
    seconds: float
    code: int | None = None
    stopped: bool = False
    file: str = ""


class Finding(Struct, frozen=True):
    """What doctor found. `state` is `ok`, `note` (worth knowing), `missing` (works without) or `wrong`."""

    name: str
    state: str
    words: str


class ListedSetting(Struct, frozen=True):
    """A setting in force: its value and origin in words, what it may be (empty: anything), the user's file."""

    name: str
    value: str
    source: str
    choices: tuple[str, ...] = ()
    file: str = ""
    about: str = ""
    """One line of meaning."""
    wanted: str = ""
    """What a value must be, in words."""
    usual: str = ""
    """What is in force while nobody sets it, in words."""
