"""The sub-agents that a project or a user defines: the user's own always, a project's when it is trusted."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.subagents import BUILT_IN, Kind

PROJECT = (".claude/agents", ".agent/agents")
"""Where a project keeps definitions; of two with one name the later directory's counts."""


class OwnAgents:
    """All kinds by name. `problems` are words for a person, `claims` what needs trust."""

    def __init__(self, project: Path, config: Path, *, trusted: bool) -> None:
        own, brought = config / "agents", [project / name for name in PROJECT]
        self.kinds: dict[str, Kind] = {kind.name: kind for kind in BUILT_IN}
        self.problems: tuple[str, ...] = ()
        self.claims: list[str] = []
        if not trusted and (names := [name for directory in brought for name in _defined(directory)]):
            self.claims.append(
                f"This project brings sub-agents of its own: {', '.join(names)}. To use them: codeagent --trust"
            )
        if there := [each for each in ([own, *brought] if trusted else [own]) if _defined(each)]:
            from codeagent.extend.agents import kinds  # most people and projects define nothing

            self.kinds, self.problems = kinds(there)


def _defined(directory: Path) -> list[str]:
    try:
        return sorted(file.stem for file in directory.glob("*.md"))
    except OSError:
        return []
