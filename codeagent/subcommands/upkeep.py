"""`codeagent sessions search, rename, fork, delete, prune`: finding sessions, naming, copying, removing them."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.flags import Mistake, Parser
from codeagent.subcommands import place

if TYPE_CHECKING:
    from codeagent.sessions.upkeep import Kept

SEARCHING = """\
examples:
  codeagent sessions search "discount"           where it was said, the latest session first
  codeagent sessions search --json timeout       the same for a script
"""

RENAMING = """\
example:
  codeagent sessions rename 20261129 the discount bug
"""

FORKING = """\
examples:
  codeagent sessions fork ID             a copy to go on from; the session itself stays as it is
  codeagent sessions fork ID --step 3    a copy that ends just before the third request
"""

DELETING = """\
examples:
  codeagent sessions delete ID           shows what would go
  codeagent sessions delete ID --yes     removes it: log, outputs kept beside it
"""

PRUNING = """\
examples:
  codeagent sessions prune                        shows sessions older than the setting cleanupPeriodDays (usual: 30)
  codeagent sessions prune --older 8w             shows sessions last used more than 8 weeks ago
  codeagent sessions prune --keep 500M            shows the oldest ones beyond 500 MB in all
  codeagent sessions prune --yes                  removes what was shown
  codeagent sessions prune --json                 what would go, for a script

Sessions that are open somewhere stay. Nothing is removed without --yes.
"""

_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_BYTES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}


def search_parser() -> Parser:
    """The parser of `codeagent sessions search`."""
    about = "Where words occur in the sessions of this project, the latest first."
    usage = "codeagent sessions search WORDS [flags]"
    made = Parser("codeagent sessions search", usage=usage, description=about, epilog=SEARCHING)
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many places (usual: 20)")
    place.add_place(made)
    return made


def search(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show where words occur; 1 when nowhere."""
    reading = search_parser()
    asked, words = reading.words(argv)
    if not words:
        raise Mistake("Search for what? codeagent sessions search WORDS")
    from codeagent.host.programs import find_program
    from codeagent.sessions.search import search as look

    rg = find_program("rg", environ, Path(asked.cwd).resolve())
    found = look(place.directory(asked, environ), " ".join(words), max(1, asked.limit), rg=rg)
    if asked.json:
        from msgspec.json import encode

        sys.stdout.write(encode(found).decode() + "\n")
        return int(not found)
    from codeagent.fronts.present import age

    now = time.time()
    for each in found:
        kind = each.kind.replace("_", " ")
        sys.stdout.write(f"{each.session}  {age(each.when, now)}, {kind}: {clean_line(each.text)}\n")
    if not found:
        sys.stdout.write(f"No session of this project holds {clean_line(' '.join(words))!r}.\n")
    return int(not found)


def rename_parser() -> Parser:
    """The parser of `codeagent sessions rename`."""
    about = "Give a session a name, which -r takes too."
    usage = "codeagent sessions rename ID NAME"
    made = Parser("codeagent sessions rename", usage=usage, description=about, epilog=RENAMING, takes=("session",))
    place.add_place(made)
    return made


def rename(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Give a session a name."""
    reading = rename_parser()
    asked, words = reading.words(argv)
    if len(words) < 2:
        raise Mistake("Rename which session to what? codeagent sessions rename ID NAME")
    from codeagent.memory import seal
    from codeagent.sessions import index, upkeep
    from codeagent.settings import Environment

    found = index.find(place.directory(asked, environ), words[0])
    key = seal.key(Environment.of(environ, Path.home()).state_home)
    title = " ".join(words[1:])
    upkeep.rename(Path(found.path), title, time.time, key)
    sys.stdout.write(f"{found.id} is now called {clean_line(title)}.\n")
    return 0


def fork_parser() -> Parser:
    """The parser of `codeagent sessions fork`."""
    about = "Copy a session, whole or up to a request."
    usage = "codeagent sessions fork ID [flags]"
    made = Parser("codeagent sessions fork", usage=usage, description=about, epilog=FORKING, takes=("session",))
    made.add_argument("--step", type=int, default=0, metavar="N", help="end before this request")
    made.add_argument("--json", action="store_true", help="for scripts: the new id and its log")
    place.add_place(made)
    return made


def fork(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Copy a session, whole or up to a request."""
    reading = fork_parser()
    asked, words = reading.words(argv)
    name = place.one(words, reading.prog)
    from codeagent.host.clock import session_id
    from codeagent.memory import seal
    from codeagent.sessions import index, store
    from codeagent.sessions.inspection import exchange
    from codeagent.sessions.load import load
    from codeagent.settings import Environment

    path = Path(index.find(place.directory(asked, environ), name).path)
    upto = exchange(load(path).entries, asked.step).position if asked.step else -1
    key = seal.key(Environment.of(environ, Path.home()).state_home)
    copy = store.fork(path, session_id(time.time()), upto, key)
    if asked.json:
        sys.stdout.write(json.dumps({"id": copy.stem, "path": str(copy)}) + "\n")
        return 0
    sys.stdout.write(f"Copied to {copy.stem}. Go on with it: codeagent -r {copy.stem}\n")
    return 0


def delete_parser() -> Parser:
    """The parser of `codeagent sessions delete`."""
    about = "Remove one session, after a look at it."
    usage = "codeagent sessions delete ID [flags]"
    made = Parser("codeagent sessions delete", usage=usage, description=about, epilog=DELETING, takes=("session",))
    made.add_argument("--yes", action="store_true", help="do it")
    place.add_place(made)
    return made


def delete(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Remove one session, with `--yes`."""
    reading = delete_parser()
    asked, words = reading.words(argv)
    name = place.one(words, reading.prog)
    from codeagent.sessions import index, upkeep

    directory = place.directory(asked, environ)
    path = Path(index.find(directory, name).path)
    return _remove([each for each in upkeep.kept(directory) if each.path == path], done=asked.yes)


def prune_parser() -> Parser:
    """The parser of `codeagent sessions prune`."""
    about = "Remove old sessions, after a look at them and at what they take."
    usage = "codeagent sessions prune [flags]"
    made = Parser("codeagent sessions prune", usage=usage, description=about, epilog=PRUNING)
    made.add_argument("--older", default="", metavar="AGE", help="last used longer ago: 12h, 30d, 8w, 6m, 1y")
    made.add_argument("--keep", default="", metavar="SIZE", help="keep at most so much in all: 500M, 2G")
    made.add_argument("--yes", action="store_true", help="do it")
    made.add_argument("--json", action="store_true", help="for scripts")
    place.add_place(made)
    return made


def prune(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show old sessions, and remove them with `--yes`."""
    reading = prune_parser()
    asked = reading.only_flags(argv)
    days = _number(asked.older, _DAYS, "an age such as 30d") if asked.older else 0.0
    most = int(_number(asked.keep, _BYTES, "a size such as 500M")) if asked.keep else -1
    if not asked.older and not asked.keep:
        days = _usual_days(asked.cwd, environ)
    oldest = time.time() - 86400 * days if days else 0.0
    from codeagent.sessions import upkeep

    sessions = upkeep.kept(place.directory(asked, environ))
    chosen = upkeep.overdue(sessions, oldest, most)
    if asked.json:
        return _remove_for_script(chosen, done=asked.yes)
    if days and not asked.older:
        sys.stdout.write(f"Older than {days:g} days, as cleanupPeriodDays says:\n" if chosen else "")
    return _remove(chosen, done=asked.yes, of=len(sessions))


def _usual_days(cwd: str, environ: Mapping[str, str]) -> float:
    """How long sessions are kept, as the settings say."""
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    return float(Ground(Options(cwd=cwd), environ, Path.home()).settings["cleanupPeriodDays"])


def _number(text: str, units: Mapping[str, float], wanted: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]?)b?", text.strip().lower())
    if found is None or found[2] not in units:
        raise Mistake(f"{text!r} cannot be used here; wanted {wanted}")
    return float(found[1]) * units[found[2]]


def _remove_for_script(chosen: Sequence[Kept], *, done: bool) -> int:
    """The same as JSON: each session with its size in bytes, and whether it was removed; 1 when one could not be."""
    from codeagent.core.errors import SessionError
    from codeagent.sessions import upkeep

    rows: list[dict[str, object]] = []
    for each in chosen:
        row = {"id": each.path.stem, "title": each.title, "when": each.when, "size": each.size, "removed": False}
        if done:
            try:
                upkeep.delete(each.path)
                row["removed"] = True
            except SessionError as fault:
                row["problem"] = str(fault)
        rows.append(row)
    sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    return int(any("problem" in row for row in rows))


def _remove(chosen: Sequence[Kept], *, done: bool, of: int = 0) -> int:
    """Show the chosen ones, or remove them; 1 when one could not be."""
    from codeagent.core.errors import SessionError
    from codeagent.fronts.present import age, count, size
    from codeagent.sessions import upkeep

    now, freed, failed = time.time(), 0, 0
    for each in chosen:
        about = f"{age(each.when, now)}, {size(each.size)}"
        line = f"{each.path.stem}  {clean_line(each.title) or '(nothing was said)'}  ({about})"
        if done:
            try:
                freed += upkeep.delete(each.path)
            except SessionError as fault:
                failed += 1
                line = str(fault)
        sys.stdout.write(line + "\n")
    among = f" of {of:,}" if of else ""
    if done:
        sys.stdout.write(f"Removed {count(len(chosen) - failed, 'session')}{among}: {size(freed)} freed.\n")
    else:
        total = size(sum(each.size for each in chosen))
        more = " Nothing was removed; add --yes to do it." if chosen else ""
        sys.stdout.write(f"{count(len(chosen), 'session')}{among}, {total}.{more}\n")
    return int(failed > 0)
