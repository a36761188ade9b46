"""What is told of a session that was left: what a killed run did not finish, and how to come back."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codeagent.core.events import Entry
from codeagent.core.unfinished import unfinished
from codeagent.host.jobs import end_leftovers
from codeagent.host.programs import find_program


def left_open(entries: Sequence[Entry], session: str) -> Iterable[str]:
    """What a killed run left behind, in words; what still runs of it is ended first."""
    for call in unfinished(entries):
        yield (
            f"The last run was cut off while {call.tool} ran ({call.label}). Whether it took effect is unknown; "
            "the model is told so, and nothing is repeated."
        )
    if left := end_leftovers(session):
        yield f"Still running from the last run, now ended: {', '.join(left)}."


def command(session: str, project: Path, called: tuple[str, str], environ: Mapping[str, str]) -> str:
    """What to type to come back to this session; `called` is the interpreter, and what it was told to run."""
    place = "" if _is_here(project) else f" --cwd {shlex.quote(str(project))}"
    return f"{program(*called, environ)} -r {session}{place}"


def program(interpreter: str, script: str, environ: Mapping[str, str]) -> str:
    """How this program is called in a shell: by name where PATH leads to it, else as it was called."""
    path = Path(script)
    if (path.parent.name, path.name) == ("codeagent", "__main__.py"):
        return f"{_typed(interpreter, environ)} -m codeagent"
    return _typed(script, environ) if path.name == "codeagent" else "codeagent"  # else it runs inside another program


def _typed(name: str, environ: Mapping[str, str]) -> str:
    path = Path(name)
    found = find_program(path.name, environ, Path(os.devnull))  # only to be named, so any place on PATH will do
    return path.name if found and Path(found) == Path.cwd() / path else shlex.quote(name)


def _is_here(project: Path) -> bool:
    """Whether the shell that started the program stands in the project."""
    with contextlib.suppress(OSError):
        return Path.cwd() == project
    return False
