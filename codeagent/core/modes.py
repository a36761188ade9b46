"""Names of permission modes and of levels of effort, which flags, settings, commands and models share.

Imports nothing: `codeagent --help` needs them too.
"""

from __future__ import annotations

MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypass")

ALIASES = {
    "manual": "default",
    "deny": "dontAsk",
    "yolo": "bypass",
    "bypassPermissions": "bypass",
    "acceptedits": "acceptEdits",
    "dontask": "dontAsk",
    "bypasspermissions": "bypass",
}
CYCLE = ("default", "acceptEdits", "plan")
"""What Shift+Tab goes through."""

EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""How hard a model thinks, the least first; not every model has all of them."""


def mode_named(name: str) -> str:
    """The mode of this name or alias, an empty string when there is none."""
    if name in MODES:
        return name
    return ALIASES.get(name) or ALIASES.get(name.lower()) or (name.lower() if name.lower() in MODES else "")
