"""The tools that a project declares in `.agent/tools/`: read when the user trusts the directory, else only named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeagent.tools.own import Declaration

MOST = 50
"""Declarations that are read."""


class OwnTools:
    """What lies in the directory. `problems` are words for a person, `claims` what needs trust."""

    def __init__(self, directory: Path, *, trusted: bool) -> None:
        self.declarations: list[Declaration] = []
        self.problems: list[str] = []
        self.claims: list[str] = []
        files = list(_declared(directory))
        if files and not trusted:
            names = ", ".join(file.stem for file in files)
            self.claims.append(f"This project brings tools of its own: {names}. To use them: codeagent --trust")
            return
        for file in files:
            self._read(file)

    @property
    def names(self) -> list[str]:
        """Names of the tools that can be used."""
        return [each.name for each in self.declarations]

    def _read(self, file: Path) -> None:
        from codeagent.tools.own import read_declaration  # pydantic, 60 ms; most projects declare nothing

        try:
            self.declarations.append(read_declaration(file))
        except (ValueError, OSError) as wrong:
            self.problems.append(f"{file}: {wrong}. This tool is left out.")


def _declared(directory: Path) -> Iterator[Path]:
    try:
        yield from sorted(directory.glob("*.json"))[:MOST]
    except OSError:
        return
