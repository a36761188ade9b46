"""The project's `.agent/` directory: what lies where, made on demand, with what git must not take."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from codeagent.host.durable import make_private, replace

_IGNORED = (
    "sessions/",
    "history.jsonl",
    "spill/",
    "snapshots/",
    "settings.local.json",
    "memory/.lock",
    ".lock",
    "*.tmp",
)

_HEADER = "# Written by codeagent: what is yours alone, and not for the repository.\n"


class Layout(Struct, frozen=True):
    """Paths under a project's root. `ensure` makes the directory; nothing else here touches the disk."""

    project: Path

    @property
    def agent(self) -> Path:
        """The directory itself."""
        return self.project / ".agent"

    @property
    def sessions(self) -> Path:
        """Session logs."""
        return self.agent / "sessions"

    @property
    def memory(self) -> Path:
        """The memory index and its topics."""
        return self.agent / "memory"

    @property
    def index(self) -> Path:
        """The memory index."""
        return self.memory / "MEMORY.md"

    @property
    def tools(self) -> Path:
        """Declarations of the project's own tools."""
        return self.agent / "tools"

    @property
    def settings(self) -> Path:
        """Settings that the project shares."""
        return self.agent / "settings.json"

    @property
    def local_settings(self) -> Path:
        """The user's own settings for this project."""
        return self.agent / "settings.local.json"

    @property
    def lock(self) -> Path:
        """Locked while the local settings change."""
        return self.agent / ".lock"

    def ensure(self) -> None:
        """Make `.agent/` (0700) and put what git must ignore into its `.gitignore`; the user's own lines stay.

        Raises OSError, also when `.agent` is a link: it could lead anywhere.
        """
        if self.agent.is_symlink():
            raise OSError(f"{self.agent} is a link")
        make_private(self.agent)
        ignore = self.agent / ".gitignore"
        try:
            text = ignore.read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            text = _HEADER
        missing = [line for line in _IGNORED if line not in text.splitlines()]
        if missing and not ignore.is_symlink():
            text += "" if text.endswith("\n") or not text else "\n"
            replace(ignore, os.fsencode(text + "\n".join(missing) + "\n"), mode=0o644)
