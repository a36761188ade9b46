"""The sub-agents that a project or a user defines: the user's own always, a project's when it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codeagent.core.subagents import BUILT_IN, Kind

PROJECT = (".claude/agents", ".agent/agents")
"""Where a project keeps definitions; of two with one name the later directory's counts."""


class OwnAgents:
    """All kinds by name. `problems` are words for a person.

    A project's directory counts when `believed` accepts every definition in it.
    """

    def __init__(self, project: Path, config: Path, believed: Callable[[Path], bool]) -> None:
        own, brought = config / "agents", [project / name for name in PROJECT]
        self.kinds: dict[str, Kind] = {kind.name: kind for kind in BUILT_IN}
        self.problems: tuple[str, ...] = ()
        usable = [own, *(place for place in brought if all(map(believed, _defined(place))))]
        if there := [place for place in usable if _defined(place)]:
            from codeagent.extend.agents import kinds  # most people and projects define nothing

            self.kinds, self.problems = kinds(there)


def _defined(directory: Path) -> list[Path]:
    try:
        return sorted(directory.glob("*.md"))
    except OSError:
        return []
