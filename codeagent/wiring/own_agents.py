"""The sub-agents that a project or a user defines: the user's own always, a project's when it is trusted."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.subagents import Kind
from codeagent.extend.agents import PROJECT, definitions, kinds


class OwnAgents:
    """All kinds by name. `problems` are words for a person, `claims` what needs trust."""

    def __init__(self, project: Path, config: Path, *, trusted: bool) -> None:
        own, brought = config / "agents", [project / name for name in PROJECT]
        found, problems = kinds([own, *brought] if trusted else [own])
        self.kinds: dict[str, Kind] = found
        self.problems: tuple[str, ...] = problems
        self.claims: list[str] = []
        names = [] if trusted else [file.stem for directory in brought for file in definitions(directory)]
        if names:
            self.claims.append(
                f"This project brings sub-agents of its own: {', '.join(names)}. To use them: codeagent --trust"
            )
