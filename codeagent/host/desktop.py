"""What the person's own desktop lends: the picture on the clipboard, an editor, a status command."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from codeagent.host.programs import find_program, run

CLIPBOARDS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
"""Programs that write the clipboard's picture to their output, whichever is there."""

PATIENCE = 3.0
"""Seconds that a clipboard or a status command may take."""


async def picture(env: Mapping[str, str], project: Path) -> bytes:
    """The picture on the clipboard, empty when there is none or no program that can read it."""
    for name, *arguments in CLIPBOARDS:
        if program := find_program(name, env, project):
            try:
                async with asyncio.timeout(PATIENCE):
                    ended = await run([program, *arguments], str(project), env)
            except (OSError, TimeoutError):
                continue
            if ended.code == 0 and ended.out:
                return ended.out
    return b""


def edit(text: str, editor: str, env: Mapping[str, str], project: Path) -> str:
    """The text as it comes back from this editor, which takes the terminal meanwhile. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="codeagent-draft-") as folder:
        draft = Path(folder) / "message.md"
        draft.write_text(text, "utf-8")
        ended = subprocess.run([*shlex.split(editor), str(draft)], cwd=project, env=dict(env), check=False)
        if ended.returncode != 0:
            return text
        return draft.read_text("utf-8", "replace").rstrip("\n")


async def words_of(command: str, given: bytes, env: Mapping[str, str], project: Path) -> str:
    """The first line that a shell command prints for this input; what went wrong in a few words otherwise."""
    try:
        async with asyncio.timeout(PATIENCE):
            ended = await run(["/bin/sh", "-c", command], str(project), env, given)
    except TimeoutError:
        return "statusLine: too slow"
    except OSError as fault:
        return f"statusLine: {fault.strerror}"
    if ended.code:
        return f"statusLine: exit {ended.code}"
    return ended.out.decode("utf-8", "replace").partition("\n")[0].strip()
