"""Where tools work: the project's root, what lies inside it, and what the model has seen of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.seen import Seen


@dataclass(slots=True)
class Workspace:
    """Handed to every tool.

    `root` is the project root, absolute and resolved, and the shell's first directory; `extra`
    are further roots (`--add-dir`). `spill` is where full outputs of commands are kept, made on
    first use. `env` is the environment of child processes, already without our secrets.
    """

    root: Path
    home: Path
    spill: Path
    env: Mapping[str, str]
    extra: tuple[Path, ...] = ()
    seen: Seen = field(default_factory=Seen)
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    """One lock for each file that is being changed, by resolved path."""

    @property
    def cwd(self) -> Path:
        """The shell's current directory; the root when that directory is gone."""
        here = Path(self.seen.cwd) if self.seen.cwd else self.root
        return here if here.is_dir() else self.root

    def lock(self, path: str) -> asyncio.Lock:
        """The lock to hold from looking at a file until it is written; `path` is absolute and resolved."""
        return self.locks.setdefault(path, asyncio.Lock())
