"""What came with a directory and would act if it were trusted: settings, extensions, memory and sessions of others."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.effects import Brought
from codeagent.core.errors import ToolFault
from codeagent.memory.topics import Topics
from codeagent.sessions import index
from codeagent.settings import Settings
from codeagent.trust import digest_of

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground

SERVERS = ".mcp.json"

EXTENSIONS = {
    ".agent/hooks": "hook",
    ".agent/tools": "tool",
    ".agent/commands": "command",
    ".agent/agents": "agent",
    ".claude/agents": "agent",
    ".agent/skills": "skill",
}
"""Directories whose files act, and what one of them is called."""

MOST = 500
"""Files of one such directory that are looked at; what lies beyond is never trusted."""


def everything(ground: Ground) -> Iterator[Brought]:
    """All of it; nothing for `--bare`."""
    if not ground.bare:
        yield from settings(ground.settings)
        yield from extensions(ground.project)
        yield from memory(ground.notebook(""), ground.layout.index)
        yield from sessions(ground.sessions, ground.seal)


def settings(read: Settings) -> Iterator[Brought]:
    """The settings files, each as it was read, with what it claims; one that claims nothing has no words."""
    for path, digest in read.brought.items():
        words = (claim.rpartition(" (") for claim in read.claims)
        mine = tuple(told for told, _, where in words if _file(where.rstrip(")")) == path)
        yield Brought(path, "settings", mine, digest)


def extensions(project: Path) -> Iterator[Brought]:
    """Files that bring hooks, tools, servers, commands, agents and skills. Links are named and never trusted."""
    if digest := digest_of(project / SERVERS):
        yield Brought(str(project / SERVERS), "servers", ("start the servers that it names",), digest)
    for folder, kind in EXTENSIONS.items():
        for path in islice(_files(project / folder), MOST):
            digest = "unreadable" if path.is_symlink() else digest_of(path)
            yield Brought(str(path), kind, (f"add the {kind} {path.relative_to(project / folder)}",), digest)


def memory(topics: Topics, path: Path) -> Iterator[Brought]:
    """The lines of the memory index that this user's codeagent did not write."""
    with suppress(ToolFault):
        if strange := topics.strange():
            yield Brought(str(path), "memory", strange, digest_of_lines(strange))


def sessions(directory: Path, key: bytes) -> Iterator[Brought]:
    """Session logs that were written elsewhere."""
    for path, digest in index.brought(directory, key) if key else ():
        words = f"be the session that -c continues{'' if digest else ' (too large to be trusted)'}"
        yield Brought(str(path), "session", (words,), digest or "unreadable")


def digest_of_lines(lines: Sequence[str]) -> str:
    """The sha256 of these lines."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _file(where: str) -> str:
    """`file` of `file:line`."""
    path, _, line = where.rpartition(":")
    return path if line.isdecimal() else where


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names))
