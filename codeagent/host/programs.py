"""Programs of this machine: where a trusted one lies, and one run to its end without a terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 18
"""Bytes read from a child at a time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program left behind: exit code (negative: the signal that ended it), output and complaints."""

    code: int
    out: bytes
    err: bytes


def find_program(name: str, env: Mapping[str, str], outside: Path) -> str:
    """The absolute path of a program on PATH that the project cannot have put there; empty if there is none.

    Relative entries of PATH and everything below `outside` (the project's root) do not count.
    """
    for folder in env.get("PATH", "").split(os.pathsep):
        if not folder.startswith("/"):
            continue
        found = Path(folder, name)
        if os.access(found, os.X_OK) and found.is_file() and not found.resolve().is_relative_to(outside):
            return str(found)
    return ""


def packaged_program(name: str, env: Mapping[str, str], outside: Path) -> str:
    """A program that a Python package installed beside our interpreter; empty if there is none, or no PATH at all."""
    if not env.get("PATH"):
        return ""
    found = Path(sys.executable).parent / name
    if os.access(found, os.X_OK) and not found.resolve().is_relative_to(outside):
        return str(found)
    return ""


@asynccontextmanager
async def child(
    command: Sequence[str], cwd: str, env: Mapping[str, str], given: bytes | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running program in a session of its own; whatever is left of it is killed on the way out."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
        limit=CHUNK,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())
        process._transport.close()  # type: ignore[attr-defined]  # closes pipes that a cancelled read left open


async def run(command: Sequence[str], cwd: str, env: Mapping[str, str], given: bytes | None = None) -> Ended:
    """Run a program to its end. Raises OSError when it cannot be started."""
    async with child(command, cwd, env, given) as process:
        out, err = await process.communicate(given)
        return Ended(process.returncode or 0, out, err)


async def head_of(stream: asyncio.StreamReader | None) -> bytes:
    """The first bytes of a stream, which is read to its end: a full pipe would stop its writer for ever."""
    kept = b""
    while stream is not None and (piece := await stream.read(CHUNK)):
        kept += piece[: CHUNK - len(kept)]
    return kept
