"""The sub-agents that a project or a user defines: the user's own always, a project's when it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codeagent.core.subagents import Kind
from codeagent.extend.agents import PROJECT, definitions, kinds


class OwnAgents:
    """All kinds by name. `problems` are words for a person.

    A project's directory counts when `believed` accepts every definition in it.
    """

    def __init__(self, project: Path, config: Path, believed: Callable[[Path], bool]) -> None:
        own, brought = config / "agents", [project / name for name in PROJECT]
        found, problems = kinds([own, *(place for place in brought if all(map(believed, definitions(place))))])
        self.kinds: dict[str, Kind] = found
        self.problems: tuple[str, ...] = problems
