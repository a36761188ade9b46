"""How hard a model thinks: the levels that there are, and which of them a model has."""

from __future__ import annotations

from codeagent.core.ports import ModelInfo

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def unfit(effort: str, info: ModelInfo) -> str:
    """Why this model cannot think at this level, in words; empty when it can."""
    if effort not in EFFORTS:
        return f"{effort!r} is no level of effort. The levels are: {', '.join(info.efforts or EFFORTS)}."
    if not info.efforts:
        return f"{info.short} has no levels of effort."
    if effort not in info.efforts:
        return f"{info.short} knows no effort {effort!r}, only {', '.join(info.efforts)}."
    return ""
