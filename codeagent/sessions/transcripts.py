"""Where the transcripts of sub-agents lie: beside the log of their session, one for each call."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from codeagent.core.errors import UsageFault
from codeagent.core.events import Entry
from codeagent.sessions.load import load

_PLAIN = re.compile(r"[\w-]{1,100}", re.ASCII)


def folder(log: Path) -> Path:
    """The directory of a session's transcripts; it need not be there."""
    return log.with_suffix("") / "agents"


def fresh(directory: Path, use_id: str) -> Path:
    """A file for the call with this id, which comes from the server and need not be fit for a file name."""
    plain = use_id if _PLAIN.fullmatch(use_id) else hashlib.sha256(use_id.encode("utf-8", "replace")).hexdigest()[:16]
    path, number = directory / f"{plain}.jsonl", 1
    while path.exists():
        number += 1
        path = directory / f"{plain}-{number}.jsonl"
    return path


def opened(log: Path, use_id: str) -> list[Entry]:
    """What the sub-agent of this call did; the beginning of an id will do when it is the only one.

    Raises UsageFault when there is none, with those that there are, and SessionError.
    """
    there = sorted(path.stem for path in folder(log).glob("*.jsonl"))
    found = [name for name in there if name == use_id] or [name for name in there if use_id and name.startswith(use_id)]
    if len(found) != 1:
        known = f"It has: {', '.join(there)}." if there else "It has none."
        raise UsageFault(f"Session {log.stem} has no sub-agent {use_id!r}. {known}")
    return load(folder(log) / f"{found[0]}.jsonl").entries
