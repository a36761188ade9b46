"""The person's own editor, on the terminal that we stand on: for a file, or for a text."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from codeagent.core.errors import UsageFault

USUAL = ("nano", "vi")
"""Tried in this order when neither VISUAL nor EDITOR names one."""


def edit_file(path: Path, environ: Mapping[str, str]) -> None:
    """Open the file and wait until the editor is closed. Raises UsageFault when there is none, or it failed."""
    named = environ.get("VISUAL") or environ.get("EDITOR") or next(filter(shutil.which, USUAL), "")
    if not named:
        raise UsageFault("There is no editor. Name yours: export EDITOR=nano")
    try:
        done = subprocess.run([*shlex.split(named), str(path)], check=False)
    except (OSError, ValueError) as fault:
        raise UsageFault(f"The editor {named!r} cannot be started: {fault}. Name another: export EDITOR=nano") from None
    if done.returncode:
        raise UsageFault(f"The editor {named!r} ended with exit code {done.returncode}; nothing was taken from it.")


def edited(text: str, environ: Mapping[str, str]) -> str:
    """The text as the person left it in the editor. Raises UsageFault; the text is in a private file meanwhile."""
    handle, name = tempfile.mkstemp(prefix="codeagent-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        edit_file(Path(name), environ)
        return Path(name).read_text("utf-8", "replace")
    finally:
        Path(name).unlink(missing_ok=True)
