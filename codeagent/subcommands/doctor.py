"""`codeagent doctor`: what this machine offers, what is missing, and what to do about it."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from codeagent.flags import Parser

EXAMPLES = """\
examples:
  codeagent doctor            check this machine and this directory
  codeagent doctor --json     the same for a script; exit code 1 when something needed is missing
"""

PROGRAMS = {
    "git": "branch names and diffs are left out; install git",
    "rg": "searches are slower; install ripgrep, or: pip install 'codeagent[rg]'",
}
"""Program -> what is lost without it, and what to do."""


class Finding(NamedTuple):
    """One thing that was looked at. `state` is `ok`, `missing` (works without) or `wrong` (does not work)."""

    name: str
    state: str
    words: str


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the findings; 1 when something is wrong."""
    parser = Parser("codeagent doctor", description=__doc__, epilog=EXAMPLES)
    parser.add_argument("--json", action="store_true", help="for scripts")
    asked = parser.only_flags(argv)
    found = list(findings(environ, Path.cwd()))
    if asked.json:
        sys.stdout.write(json.dumps([finding._asdict() for finding in found], indent=1) + "\n")
    else:
        for finding in found:
            sys.stdout.write(f"{finding.state:<8} {finding.name:<9} {finding.words}\n")
    return int(any(finding.state == "wrong" for finding in found))


def findings(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Look at everything once."""
    from codeagent import __version__
    from codeagent.host.programs import find_program, packaged_program

    yield Finding("codeagent", "ok", __version__)
    modern = sys.version_info >= (3, 11)
    yield Finding("python", "ok" if modern else "wrong", f"{platform.python_version()} at {sys.executable}")
    yield _key(environ)
    for name, loss in PROGRAMS.items():
        place = find_program(name, environ, project) or packaged_program(name, environ, project)
        yield Finding(name, "ok" if place else "missing", place or loss)
    yield _sandbox(project)
    yield _terminal(environ)
    yield _sessions(environ, project)
    yield _disk(environ, project)


def _key(environ: Mapping[str, str]) -> Finding:
    from codeagent.host.keys import stored_key

    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        if environ.get(name, "").strip():
            return Finding("key", "ok", f"from {name}")
    if stored_key():
        return Finding("key", "ok", "from the system keyring")
    words = "no key: export ANTHROPIC_API_KEY=...; without one: codeagent demo, codeagent --model offline"
    return Finding("key", "missing", words)


def _sandbox(project: Path) -> Finding:
    from codeagent.host.sandbox import Sandbox, find

    if problem := Sandbox([project], Path.home()).problem:
        how = "; install bubblewrap" if sys.platform == "linux" and not find() else ""
        return Finding("sandbox", "missing", f"commands run without one: {problem}{how}")
    return Finding("sandbox", "ok", f"{find()}: commands write in the project alone and have no network")


def _terminal(environ: Mapping[str, str]) -> Finding:
    term = environ.get("TERM", "")
    if term in ("", "dumb"):
        return Finding("terminal", "missing", f"TERM is {term or 'not set'}: codeagent runs line by line")
    colour = ", no colour wanted" if environ.get("NO_COLOR") else ""
    return Finding("terminal", "ok", f"{term}{colour}")


def _sessions(environ: Mapping[str, str], project: Path) -> Finding:
    from codeagent.sessions import index
    from codeagent.settings import Environment

    state = Environment.of(environ, Path.home()).state_home
    inside = index.writable(project)
    place = index.sessions_dir(project, state, inside)
    count = len(index.logs(place))
    words = f"{count} in {place}" + ("" if inside else " (this directory cannot be written)")
    return Finding("sessions", "ok", words)


def _disk(environ: Mapping[str, str], project: Path) -> Finding:
    """What everything of ours takes: this project's part by part, and what is kept for the user."""
    from codeagent.fronts.present import size
    from codeagent.host.trees import size_of
    from codeagent.memory.layout import Layout
    from codeagent.sessions import index
    from codeagent.settings import Environment

    user, layout = Environment.of(environ, Path.home()), Layout(project)
    places = {
        "sessions": index.sessions_dir(project, user.state_home, index.writable(project)),
        "snapshots": layout.agent / "snapshots",
        "memory": layout.memory,
        ".agent in all": layout.agent,
        "your settings": user.config_home / "codeagent",
        "your state": user.state_home / "codeagent",
    }
    sizes = ((name, size_of(path)) for name, path in places.items() if path.exists())
    words = ", ".join(f"{name} {size(taken)}" for name, taken in sizes)
    hint = "; to make room: codeagent sessions prune --older 30d" if words else ""
    return Finding("disk", "ok", f"{words or 'nothing is kept here yet'}{hint}")
