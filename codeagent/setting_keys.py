"""The table of settings: name, type, limits, default, and who may set it; and the check of one value."""

from __future__ import annotations

import math
from typing import Any, Literal

from msgspec import Struct

from codeagent.core.modes import ALIASES, EFFORTS, MODES

Layer = Literal["managed", "command line", "environment", "local", "project", "user", "default"]

PRECEDENCE: tuple[Layer, ...] = ("managed", "command line", "environment", "local", "project", "user")
"""Whose value of a setting counts, the strongest first. Lists of rules and directories are joined instead."""

ACTS = {
    "history": "ctrl+r",
    "editor": "ctrl+g",
    "stash": "ctrl+s",
    "image": "ctrl+v",
    "find": "ctrl+f",
    "earlier": "ctrl+up",
    "later": "ctrl+down",
    "copy": "alt+c",
    "unfold": "ctrl+o",
    "todo": "ctrl+t",
    "redraw": "ctrl+l",
    "suspend": "ctrl+z",
    "mode": "shift+tab",
    "model": "alt+p",
    "effort": "alt+t",
    "theme": "alt+h",
    "mouse": "alt+m",
}
"""What can have a key of one's own choice in the full screen (`keys.history` and so on), and its usual key."""


THEMES = ("dark", "light", "dark-safe", "light-safe", "terminal")
"""Colours of the full-screen interface; `safe` ones do without green against red."""


class Key(Struct, frozen=True):
    """A setting. `kind` is its JSON type; numbers lie between `low` and `high`, texts in `choices` if there are any.

    `own` settings are never taken from a project's files: an address gets the user's key.
    """

    name: str
    kind: Literal["text", "integer", "number", "switch", "texts"]
    default: Any
    about: str
    """One line of meaning."""
    low: float = 0
    high: float = math.inf
    choices: tuple[str, ...] = ()
    own: bool = False
    unset: str = ""
    """What is in force, in words, while it has its default, where that is no value by itself."""

    def in_force(self, value: Any) -> str:
        """A value in words: of one that says nothing, what holds then."""
        if self.unset and value == self.default:
            return self.unset
        if isinstance(value, list | tuple):
            return ", ".join(map(str, value)) or "none"
        return str(value).lower() if isinstance(value, bool) else str(value)

    @property
    def usual(self) -> str:
        """What is in force while nobody sets it, in words."""
        return self.in_force(self.default)

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind in {"integer", "number"}:
            noun = "a whole number" if self.kind == "integer" else "a number"
            return f"{noun} from {self.low:g} to {self.high:g}" if self.high < math.inf else f"{noun} from {self.low:g}"
        return {"text": "a text", "switch": "true or false", "texts": "a list of texts"}[self.kind]

    @property
    def variable(self) -> str:
        """The environment variable that sets it: `maxTurns` is CODEAGENT_MAX_TURNS."""
        words = "".join(f"_{c}" if c.isupper() else "_" if c == "." else c for c in self.name)
        return f"CODEAGENT_{words.upper()}"


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("model", "text", "", "the model that is asked: an id, or an alias such as opus", unset="claude-sonnet-5-5"),
        Key("fallbackModel", "text", "", "models to ask, in order, when the first cannot answer", unset="none"),
        Key(
            "effort",
            "text",
            "",
            "how hard the model thinks",
            choices=EFFORTS,
            unset="the model's own",
        ),
        Key(
            "baseUrl",
            "text",
            "",
            "address of the Messages API, for a gateway or a local server",
            own=True,
            unset="the provider's own",
        ),
        Key("theme", "text", "", "colours of the full screen", choices=THEMES, unset="dark"),
        Key(
            "editor",
            "text",
            "",
            "command that opens files and drafts for you",
            own=True,
            unset="by VISUAL or EDITOR",
        ),
        Key(
            "statusLine",
            "text",
            "",
            "command whose first line of output stands in the status line",
            own=True,
            unset="none",
        ),
        Key("mouse", "switch", True, "the full screen takes the mouse: wheel, clicks, selecting"),
        Key("vim", "switch", False, "vim's keys while you write"),
        Key("reducedMotion", "switch", False, "nothing moves on the screen but text"),
        Key(
            "notify",
            "text",
            "auto",
            "when you look elsewhere: a notice with a bell, a bell, nothing",
            choices=("auto", "bell", "off"),
        ),
        *(Key(f"keys.{act}", "text", "", f"key for: {act}", unset=key) for act, key in ACTS.items()),
        Key("maxTurns", "integer", 0, "steps in a turn before it asks whether to go on", unset="50"),
        Key(
            "maxTokensTotal",
            "integer",
            0,
            "tokens of a session before it asks; cache reads count a tenth",
            unset="5,000,000",
        ),
        Key("maxBudgetUsd", "number", 0.0, "dollars of a session before it asks", unset="no limit"),
        Key("maxSeconds", "number", 0.0, "seconds of a turn before it asks", unset="no limit"),
        Key("compaction.auto", "switch", True, "sum up the conversation when the window fills"),
        Key(
            "compaction.threshold",
            "number",
            0.0,
            "share of the usable window at which to sum up: 0.8 is 80 %",
            high=1,
            unset="1",
        ),
        Key("compaction.reserve", "integer", 13_000, "tokens of the window that are kept free"),
        Key("compaction.keep", "integer", 4, "newest messages that stay word for word", low=4),
        Key("memory", "switch", True, "the memory is told to the model and can be added to"),
        Key(
            "webFetch.allowPrivate",
            "switch",
            False,
            "pages at private addresses and on this machine may be fetched",
            own=True,
        ),
        Key(
            "sandbox",
            "text",
            "auto",
            "commands run behind walls: where it works, always, never",
            choices=("auto", "on", "off"),
            own=True,
        ),
        Key("sandbox.network", "switch", False, "commands behind the walls reach the network", own=True),
        Key("cleanupPeriodDays", "integer", 30, "age in days from which `sessions prune` takes sessions away", low=1),
        Key(
            "permissions.defaultMode",
            "text",
            "default",
            "mode that a session starts in: what runs without asking",
            choices=(*MODES, *ALIASES),
        ),
        Key(
            "permissions.disableBypassPermissionsMode",
            "text",
            "",
            "keeps the mode bypass from being used",
            choices=("disable",),
            unset="bypass can be used",
        ),
        Key("permissions.allow", "texts", (), "rules: what runs without asking"),
        Key("permissions.ask", "texts", (), "rules: what is asked whatever is allowed"),
        Key("permissions.deny", "texts", (), "rules: what never runs"),
        Key("permissions.additionalDirectories", "texts", (), "directories that count as inside the project"),
    )
}

GROUPS = {name.partition(".")[0] for name in KEYS if "." in name}
"""Settings that are objects with settings inside."""


def checked(key: Key, value: Any) -> Any:
    """The value as its type, or ValueError with what came and what is wanted."""
    fits = {
        "text": isinstance(value, str),
        "switch": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
        "texts": isinstance(value, list | tuple),
    }[key.kind]
    if not fits or (key.choices and value not in key.choices):
        raise ValueError(f"{shown(value)} came, {key.wanted} is wanted")
    if key.kind in {"integer", "number"} and not key.low <= value <= key.high:
        raise ValueError(f"{shown(value)} came, {key.wanted} is wanted")
    return value


def from_text(key: Key, text: str) -> Any:
    """A value from the environment, where everything is text. Raises ValueError as `checked` does."""
    value: Any = text
    try:
        if key.kind == "integer":
            value = int(text)
        elif key.kind == "number":
            value = float(text)
    except ValueError:
        raise ValueError(f"{shown(text)} came, {key.wanted} is wanted") from None
    if key.kind == "switch":
        value = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(text.lower(), text)
    return checked(key, value)


def shown(value: Any) -> str:
    """A value from outside in a message, cut at 60 characters."""
    words = ascii(value)
    return words if len(words) <= 60 else words[:57] + "..."
