"""`codeagent sessions`: which sessions this project has, and what was said in one."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.flags import Mistake, Parser

if TYPE_CHECKING:
    from codeagent.core.listed import Listed

EXAMPLES = """\
examples:
  codeagent sessions                 the sessions of this project, the latest first
  codeagent sessions list --json     the same for a script
  codeagent sessions show ID         what was said in one (an id, its beginning, or a name)
  codeagent -r ID                    go on with one
"""


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """List the sessions or show one."""
    parser = Parser("codeagent sessions", usage="codeagent sessions [list | show ID] [flags]", epilog=EXAMPLES)
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.add_argument("--cwd", default=".", metavar="DIR", help="of the project in this directory")
    parser.add_argument("--all", action="store_true", help="headless runs too")
    asked, words = parser.words(argv)
    act, rest = (words[0], words[1:]) if words else ("list", [])
    directory = _directory(Path(asked.cwd), environ)
    if act == "list" and not rest:
        return _list(directory, everything=asked.all, as_json=asked.json)
    if act == "show" and len(rest) == 1:
        return _show(directory, rest[0], environ, as_json=asked.json)
    if act == "show":
        raise Mistake("Which session? codeagent sessions show ID. To list them: codeagent sessions")
    raise Mistake(f"codeagent sessions cannot {' '.join(words)!r}. It knows: list, show ID")


def _directory(project: Path, environ: Mapping[str, str]) -> Path:
    from codeagent.sessions import index
    from codeagent.settings import Environment

    if not project.is_dir():
        raise Mistake(f"There is no directory {project}. Name one that exists.")
    project = project.resolve()
    state = Environment.of(environ, Path.home()).state_home
    return index.sessions_dir(project, state, index.writable(project))


def _list(directory: Path, *, everything: bool, as_json: bool) -> int:
    from codeagent.sessions import index

    found = [each for each in index.listed(directory) if everything or as_json or not each.headless]
    if as_json:
        from msgspec.json import encode

        sys.stdout.write(encode(found).decode() + "\n")
        return 0
    now = time.time()
    rows = [_row(each, now) for each in found]
    sys.stdout.write("\n".join([*rows, ""]) if rows else f"No sessions in {directory}.\n")
    return 0


def _row(each: Listed, now: float) -> str:
    from codeagent.fronts import present

    about = (present.age(each.when, now), present.count(each.turns, "turn"), present.money(each.cost), each.branch)
    return f"{each.id}  {clean_line(each.title)}  ({', '.join(filter(None, about))})"


def _show(directory: Path, name: str, environ: Mapping[str, str], *, as_json: bool) -> int:
    from codeagent.sessions import index
    from codeagent.sessions.load import load

    loaded = load(Path(index.find(directory, name).path))
    if as_json:
        from msgspec.json import encode

        sys.stdout.write(encode(loaded.entries).decode("utf-8", "replace") + "\n")
        return 0
    from codeagent.fronts.repl.paper import Paper, Terminal
    from codeagent.fronts.repl.printer import Printer

    printer = Printer(Paper(sys.stdout, Terminal.of(environ)))
    for entry in loaded.entries:
        printer.see(entry)
    for words in loaded.notices:
        sys.stderr.write(f"codeagent: {clean_line(words)}\n")
    return 0
