"""The table of settings: name, type, limits, default, and who may set it; and the check of one value."""

from __future__ import annotations

import math
from typing import Any, Literal

from msgspec import Struct

from codeagent.core.modes import ALIASES, EFFORTS, MODES

Layer = Literal["managed", "command line", "environment", "local", "project", "user", "default"]

PRECEDENCE: tuple[Layer, ...] = ("managed", "command line", "environment", "local", "project", "user")
"""Whose value of a setting counts, the strongest first. Lists of rules and directories are joined instead."""

ACTS = (
    "history",
    "editor",
    "stash",
    "image",
    "find",
    "earlier",
    "later",
    "copy",
    "unfold",
    "todo",
    "redraw",
    "suspend",
    "mode",
    "model",
    "effort",
    "theme",
    "mouse",
)
"""What a key of one's own choice can be given to in the full-screen interface: `keys.history` and so on."""


THEMES = ("dark", "light", "dark-safe", "light-safe", "terminal")
"""Colours of the full-screen interface; `safe` ones do without green against red."""


class Key(Struct, frozen=True):
    """A setting. `kind` is its JSON type; numbers lie between `low` and `high`, texts in `choices` if there are any.

    `own` settings are never taken from a project's files: an address gets the user's key.
    """

    name: str
    kind: Literal["text", "integer", "number", "switch", "texts"]
    default: Any
    low: float = 0
    high: float = math.inf
    choices: tuple[str, ...] = ()
    own: bool = False

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
        Key("model", "text", ""),
        Key("fallbackModel", "text", ""),
        Key("effort", "text", "", choices=EFFORTS),
        Key("baseUrl", "text", "", own=True),
        Key("theme", "text", "", choices=THEMES),
        Key("ui", "text", "auto", choices=("auto", "tui", "repl", "plain")),
        Key("editor", "text", "", own=True),
        Key("statusLine", "text", "", own=True),
        Key("mouse", "switch", True),
        Key("vim", "switch", False),
        Key("reducedMotion", "switch", False),
        Key("notify", "text", "auto", choices=("auto", "bell", "off")),
        *(Key(f"keys.{act}", "text", "") for act in ACTS),
        Key("maxTurns", "integer", 0),
        Key("maxTokensTotal", "integer", 0),
        Key("maxBudgetUsd", "number", 0.0),
        Key("maxSeconds", "number", 0.0),
        Key("compaction.auto", "switch", True),
        Key("compaction.threshold", "number", 0.0, high=1),
        Key("compaction.reserve", "integer", 13_000),
        Key("compaction.keep", "integer", 4, low=4),
        Key("memory", "switch", True),
        Key("webFetch.allowPrivate", "switch", False, own=True),
        Key("sandbox", "text", "auto", choices=("auto", "on", "off"), own=True),
        Key("sandbox.network", "switch", False, own=True),
        Key("cleanupPeriodDays", "integer", 30, low=1),
        Key("permissions.defaultMode", "text", "default", choices=(*MODES, *ALIASES)),
        Key("permissions.disableBypassPermissionsMode", "text", "", choices=("disable",)),
        Key("permissions.allow", "texts", ()),
        Key("permissions.ask", "texts", ()),
        Key("permissions.deny", "texts", ()),
        Key("permissions.additionalDirectories", "texts", ()),
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
