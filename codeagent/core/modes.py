"""Names of permission modes and of levels of effort, which flags, settings, commands and models share.

Imports nothing: `codeagent --help` needs them too.
"""

from __future__ import annotations

MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypass")

ALIASES = {"manual": "default", "deny": "dontAsk", "yolo": "bypass", "bypassPermissions": "bypass"}
"""Other names that are in use in the field."""

_NAMED = {name.lower(): name for name in MODES} | {name.lower(): mode for name, mode in ALIASES.items()}
CYCLE = ("default", "acceptEdits", "plan")
"""What Shift+Tab goes through."""

EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""How hard a model thinks, the least first; not every model has all of them."""


def mode_named(name: str) -> str:
    """The mode of this name or alias, in whatever case; an empty string when there is none."""
    return _NAMED.get(name.lower(), "")
