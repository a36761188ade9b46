"""Where the sessions of a project lie, and what one of them holds: shared by the subcommands that read sessions."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.flags import Mistake, Parser

if TYPE_CHECKING:
    from argparse import Namespace

    from codeagent.core.events import Entry
    from codeagent.core.listed import Listed


def add_place(parser: Parser) -> None:
    """The flag that names the project."""
    parser.add_argument("--cwd", default=".", metavar="DIR", help="of the project in this directory")


def directory(asked: Namespace, environ: Mapping[str, str]) -> Path:
    """The directory of the project's logs. Raises UsageFault for a project that is not there."""
    from codeagent.sessions import index
    from codeagent.settings import Environment
    from codeagent.wiring import given

    project = given.project(asked.cwd)
    state = Environment.of(environ, Path.home()).state_home
    return index.sessions_dir(project, state, index.writable(project))


def one(words: list[str], command: str) -> str:
    """The one session that the words of a command line name. Raises Mistake with the command to type."""
    if len(words) != 1:
        what = "Which session?" if not words else "One session at a time."
        raise Mistake(f"{what} {command} ID. To list them: codeagent sessions")
    return words[0]


def newest_or(words: list[str], command: str, directory: Path) -> str:
    """The same, or without words the newest session, which is told on standard error. Raises Mistake."""
    if words:
        return one(words, command)
    from codeagent.sessions import index

    last = index.latest(directory, include_headless=True)
    if last is None:
        raise Mistake(f"There is no session in {directory} yet.")
    name = f", {clean_line(last.title)}" if last.title else ""
    sys.stderr.write(f"The newest session: {last.id}{name}\n")
    return last.id


def opened(directory: Path, name: str) -> tuple[Listed, list[Entry]]:
    """A session by id, beginning of an id, name, or path of a log; what could not be read goes to standard error.

    Raises UsageFault when there is none.
    """
    from codeagent.core.errors import UsageFault
    from codeagent.sessions import index
    from codeagent.sessions.load import load

    path = Path(name).expanduser()
    if name.endswith(".jsonl"):
        found = index.describe(path)
        if found is None:
            raise UsageFault(f"There is no session log at {path}.")
    else:
        found = index.find(directory, name)
    loaded = load(Path(found.path))
    for words in loaded.notices:
        sys.stderr.write(f"codeagent: {clean_line(words)}\n")
    return found, loaded.entries
