"""`codeagent sessions`: which sessions this project has, what was said in them, and keeping them in order."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codeagent.core.clean import clean_line
from codeagent.flags import Mistake, Parser, nearest

if TYPE_CHECKING:
    from codeagent.core.listed import Listed
    from codeagent.sessions.load import Loaded

EXAMPLES = """\
what to do:
  list               the sessions of this project, the latest first (also without a word)
  show ID            what was said in one: an id, the beginning of one, or a name
  search WORDS       where these words occur, in all sessions
  export ID [FILE]   the conversation as Markdown, on standard output or into a new file
  rename ID NAME     give it a name
  delete ID          delete it for good

examples:
  codeagent sessions list --json
  codeagent sessions search "discount"
  codeagent sessions export 20261129-2020 talk.md
  codeagent -r ID                                go on with one
"""


class Place(NamedTuple):
    """Where the sessions lie, the user's state directory, and what the flags said."""

    directory: Path
    state: Path
    environ: Mapping[str, str]
    flags: argparse.Namespace


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the first word says; 0 when it was done."""
    parser = Parser("codeagent sessions", usage="codeagent sessions [WHAT] [flags]", epilog=EXAMPLES)
    parser.add_argument("--json", action="store_true", help="for scripts: with list, show, search")
    parser.add_argument("--cwd", default=".", metavar="DIR", help="of the project in this directory")
    parser.add_argument("--all", action="store_true", help="with list: headless runs too")
    parser.add_argument("--yes", action="store_true", help="with delete: do not ask")
    flags, words = parser.words(argv)
    name, rest = (words[0], words[1:]) if words else ("list", [])
    if name not in ACTS:
        near = nearest(name, ACTS)
        hint = f" Did you mean {near}?" if near else ""
        raise Mistake(f"codeagent sessions cannot {name!r}.{hint} It knows: {', '.join(ACTS)}.")
    act, least, most, usage = ACTS[name]
    if not least <= len(rest) <= most:
        raise Mistake(f"Use it like this: codeagent sessions {usage}. To list the sessions: codeagent sessions")
    return act(_place(flags, environ), *rest)


def _place(flags: argparse.Namespace, environ: Mapping[str, str]) -> Place:
    from codeagent.sessions import index
    from codeagent.settings import Environment

    project = Path(flags.cwd)
    if not project.is_dir():
        raise Mistake(f"There is no directory {project}. Name one that exists.")
    project = project.resolve()
    state = Environment.of(environ, Path.home()).state_home
    return Place(index.sessions_dir(project, state, index.writable(project)), state, environ, flags)


def _list(place: Place) -> int:
    from codeagent.sessions import index

    flags = place.flags
    found = [each for each in index.listed(place.directory) if flags.all or flags.json or not each.headless]
    if flags.json:
        return _json(found)
    now = time.time()
    rows = [_row(each, now) for each in found]
    sys.stdout.write("\n".join([*rows, ""]) if rows else f"No sessions in {place.directory}.\n")
    return 0


def _row(each: Listed, now: float) -> str:
    from codeagent.fronts import present

    about = (present.age(each.when, now), present.count(each.turns, "turn"), present.money(each.cost), each.branch)
    return f"{each.id}  {clean_line(each.title)}  ({', '.join(filter(None, about))})"


def _json(found: object) -> int:
    from msgspec.json import encode

    sys.stdout.write(encode(found).decode("utf-8", "replace") + "\n")
    return 0


def _found(place: Place, name: str) -> tuple[Listed, Loaded]:
    """The session that a name means, read. What could not be read is told on standard error."""
    from codeagent.sessions import index
    from codeagent.sessions.load import load

    listed = index.find(place.directory, name)
    loaded = load(Path(listed.path))
    for words in loaded.notices:
        sys.stderr.write(f"codeagent: {clean_line(words)}\n")
    return listed, loaded


def _show(place: Place, name: str) -> int:
    from codeagent.fronts.repl.paper import Paper, Terminal
    from codeagent.fronts.repl.printer import Printer

    _, loaded = _found(place, name)
    if place.flags.json:
        return _json(loaded.entries)
    printer = Printer(Paper(sys.stdout, Terminal.of(place.environ)))
    for entry in loaded.entries:
        printer.see(entry)
    return 0


def _search(place: Place, *words: str) -> int:
    from codeagent.fronts import present
    from codeagent.sessions.search import search

    found = search(place.directory, " ".join(words))
    if place.flags.json:
        return _json(found)
    now = time.time()
    for hit in found:
        who = hit.kind.replace("_", " ")
        sys.stdout.write(f"{hit.session}  {present.age(hit.when, now)}, {who}: {clean_line(hit.text)}\n")
    if not found:
        sys.stdout.write("Nothing found.\n")
    return 0


def _export(place: Place, name: str, file: str = "") -> int:
    from codeagent.core.clean import clean
    from codeagent.fronts.reports import markdown

    listed, loaded = _found(place, name)
    text = markdown(loaded.entries, listed.title)
    if not file:
        sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
        return 0
    try:
        with Path(file).open("x", encoding="utf-8", errors="replace") as target:
            target.write(text)
    except FileExistsError:
        raise Mistake(f"{file} exists already and is left as it is. Name another file.") from None
    except OSError as error:
        raise Mistake(f"{file} cannot be written: {error.strerror}. Name another file.") from None
    return 0


def _rename(place: Place, name: str, *title: str) -> int:
    from codeagent.core.events import Titled
    from codeagent.memory import seal
    from codeagent.sessions import index
    from codeagent.sessions.store import Log

    log, _ = Log.open(Path(index.find(place.directory, name).path), time.time, seal.key(place.state))
    log.append(Titled(" ".join(title).strip()[:200], by="user"))
    log.close()
    return 0


def _delete(place: Place, name: str) -> int:
    from codeagent.sessions import index
    from codeagent.sessions.store import Log

    listed = index.find(place.directory, name)
    if not place.flags.yes and not _sure(listed):
        return 1
    log, _ = Log.open(Path(listed.path), time.time)  # refuses one that is open elsewhere
    log.close()  # an open log would bring its file back
    for path in sorted((place.directory / listed.id).rglob("*"), reverse=True):  # what was too long for the log
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    if (place.directory / listed.id).is_dir():
        (place.directory / listed.id).rmdir()
    log.path.unlink()
    return 0


def _sure(listed: Listed) -> bool:
    if not os.isatty(0):
        raise Mistake(f"Nobody can be asked here. To delete {listed.id} for good, add --yes.")
    sys.stderr.write(f"Delete {listed.id} ({clean_line(listed.title)}) for good? y or n, then Enter: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


ACTS: dict[str, tuple[Callable[..., int], int, int, str]] = {
    "list": (_list, 0, 0, "list"),
    "show": (_show, 1, 1, "show ID"),
    "search": (_search, 1, 99, "search WORDS"),
    "export": (_export, 1, 2, "export ID [FILE]"),
    "rename": (_rename, 2, 99, "rename ID NAME"),
    "delete": (_delete, 1, 1, "delete ID"),
}
"""Word -> what does it, the least and most words after it, and how it is written."""
