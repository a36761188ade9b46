"""`codeagent audit`: what a session did, who allowed it, by which rule, and how files were before and after."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from codeagent.flags import Mistake, Parser
from codeagent.subcommands import place

ABOUT = "What a session did, who allowed it and by which rule, and how files were before and after."

EXAMPLES = """\
examples:
  codeagent audit              the newest session of this project
  codeagent audit ID           that one (an id, its beginning, or a name)
  codeagent audit FILE.jsonl   a session log, wherever it lies
  codeagent audit --json       one object a line, whole hashes
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent audit`."""
    usage = "codeagent audit [SESSION] [flags]"
    made = Parser("codeagent audit", usage=usage, description=ABOUT, epilog=EXAMPLES, takes=("session",))
    made.add_argument("--json", action="store_true", help="for scripts")
    place.add_place(made)
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the trail, oldest first."""
    asked, words = parser().words(argv)
    if len(words) > 1:
        raise Mistake(f"One session at a time: {words[0]} or {words[1]}?")
    from codeagent.sessions import audit

    log = _log(asked, words[0] if words else "", environ)
    rows = audit.of_log(log)
    if asked.json:
        from msgspec.json import encode

        for row in rows:
            sys.stdout.write(encode(row).decode("utf-8", "replace") + "\n")
        return 0
    for row in rows:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.when))
        sys.stdout.write("\n".join(audit.words(row, stamp)) + "\n")
    refused = sum(row.decision == "deny" for row in rows)
    changed = sum(row.after != row.before for row in rows)
    sys.stdout.write(f"Decisions: {len(rows)}, refused: {refused}, changes of files: {changed}. {log}\n")
    return 0


def _log(asked: Namespace, named: str, environ: Mapping[str, str]) -> Path:
    from codeagent.sessions import index

    if named.endswith(".jsonl"):
        path = Path(named).expanduser()
        if not path.is_file():
            raise Mistake(f"There is no session log at {path}.")
        return path
    directory = place.directory(asked, environ)
    if named:
        return Path(index.find(directory, named).path)
    last = index.latest(directory, include_headless=True)
    if last is None:
        raise Mistake(f"There is no session in {directory} yet.")
    return Path(last.path)
