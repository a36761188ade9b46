"""The tools that a project declares in `.agent/tools/`: read when the user trusts the directory, else only named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeagent.tools.own import Declaration

MOST = 50
"""Declarations that are read."""


class OwnTools:
    """What lies in the directory. `problems` are words for a person; only a file of which `content` gives
    something is read, and that is what is read."""

    def __init__(self, directory: Path, content: Callable[[Path], bytes | None]) -> None:
        self.declarations: list[Declaration] = []
        self.problems: list[str] = []
        for file in _declared(directory):
            try:
                data = content(file)
            except OSError as fault:
                self.problems.append(f"{file}: {fault}. This tool is left out.")
                continue
            if data is not None:
                self._read(file, data, content)

    @property
    def names(self) -> list[str]:
        """Names of the tools that can be used."""
        return [each.name for each in self.declarations]

    def _read(self, file: Path, data: bytes, content: Callable[[Path], bytes | None]) -> None:
        from codeagent.tools.own import read_declaration  # pydantic, 60 ms; most projects declare nothing

        try:
            declared = read_declaration(file, data)
            program = Path(declared.command[0])
            if program.is_relative_to(file.parent) and program.is_file() and content(program) is None:
                raise ValueError("its program is not what you trusted, or too large for that")
            self.declarations.append(declared)
        except (ValueError, OSError) as wrong:
            self.problems.append(f"{file}: {wrong}. This tool is left out.")


def _declared(directory: Path) -> Iterator[Path]:
    try:
        yield from sorted(directory.glob("*.json"))[:MOST]
    except OSError:
        return
