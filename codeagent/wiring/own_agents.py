"""The sub-agents that a project or a user defines: the user's own always, a project's when it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from codeagent.core.subagents import BUILT_IN, Kind

PROJECT = (".claude/agents", ".agent/agents")
"""Where a project keeps definitions; of two with one name the later directory's counts."""


class OwnAgents:
    """All kinds by name. `problems` are words for a person.

    A project's directory counts when `content` gives something of every definition in it; that is what is read.
    """

    def __init__(self, project: Path, config: Path, content: Callable[[Path], bytes | None]) -> None:
        own, brought = config / "agents", [project / name for name in PROJECT]
        self.kinds: dict[str, Kind] = {kind.name: kind for kind in BUILT_IN}
        self.problems: tuple[str, ...] = ()
        held: dict[Path, bytes] = {}
        usable = [own, *(place for place in brought if _accepted(place, content, held))]
        if there := [place for place in usable if _defined(place)]:
            from codeagent.extend.agents import kinds, whole  # most people and projects define nothing

            def known(file: Path) -> bytes | None:
                return held[file] if file in held else whole(file) if file.parent == own else content(file)

            self.kinds, self.problems = kinds(there, known)


def _accepted(directory: Path, content: Callable[[Path], bytes | None], held: dict[Path, bytes]) -> bool:
    """Whether every definition there counts; what is in them is put into `held`."""
    for file in _defined(directory):
        with suppress(OSError):  # trusted and not to be read: named when it is used
            data = content(file)
            if data is None:
                return False
            held[file] = data
    return True


def _defined(directory: Path) -> list[Path]:
    try:
        return sorted(directory.glob("*.md"))
    except OSError:
        return []
