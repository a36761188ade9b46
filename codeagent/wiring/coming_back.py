"""What is told of a session that was left: what a killed run did not finish, and how to come back."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from codeagent.core.events import Entry
from codeagent.core.unfinished import unfinished
from codeagent.host.jobs import end_leftovers


def left_open(entries: Sequence[Entry], session: str) -> Iterable[str]:
    """What a killed run left behind, in words; what still runs of it is ended first."""
    for call in unfinished(entries):
        yield (
            f"The last run was cut off while {call.tool} ran ({call.label}). Whether it took effect is unknown; "
            "the model is told so, and nothing is repeated."
        )
    if left := end_leftovers(session):
        yield f"Still running from the last run, now ended: {', '.join(left)}."


def command(session: str, project: Path) -> str:
    """What to type to come back to this session."""
    place = "" if _is_here(project) else f" --cwd {shlex.quote(str(project))}"
    return f"codeagent -r {session}{place}"


def _is_here(project: Path) -> bool:
    """Whether the shell that started the program stands in the project."""
    with contextlib.suppress(OSError):
        return Path.cwd() == project
    return False
