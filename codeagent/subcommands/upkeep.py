"""`codeagent sessions search, rename, fork, delete, prune`: finding sessions, naming, copying, removing them."""

from __future__ import annotations

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
  codeagent sessions prune --older 30d            shows sessions last used more than 30 days ago
  codeagent sessions prune --keep 500M            shows the oldest ones beyond 500 MB in all
  codeagent sessions prune --older 30d --yes      removes what was shown

Sessions that are open somewhere stay. Nothing is removed without --yes.
"""

_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_BYTES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}


def search(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show where words occur; 1 when nowhere."""
    parser = Parser("codeagent sessions search", usage="codeagent sessions search WORDS [flags]", epilog=SEARCHING)
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many places (usual: 20)")
    place.add_place(parser)
    asked, words = parser.words(argv)
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


def rename(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Give a session a name."""
    parser = Parser("codeagent sessions rename", usage="codeagent sessions rename ID NAME", epilog=RENAMING)
    place.add_place(parser)
    asked, words = parser.words(argv)
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


def fork(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Copy a session, whole or up to a request."""
    parser = Parser("codeagent sessions fork", usage="codeagent sessions fork ID [flags]", epilog=FORKING)
    parser.add_argument("--step", type=int, default=0, metavar="N", help="end before this request")
    place.add_place(parser)
    asked, words = parser.words(argv)
    name = place.one(words, parser.prog)
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
    sys.stdout.write(f"Copied to {copy.stem}. Go on with it: codeagent -r {copy.stem}\n")
    return 0


def delete(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Remove one session, with `--yes`."""
    parser = Parser("codeagent sessions delete", usage="codeagent sessions delete ID [flags]", epilog=DELETING)
    parser.add_argument("--yes", action="store_true", help="do it")
    place.add_place(parser)
    asked, words = parser.words(argv)
    name = place.one(words, parser.prog)
    from codeagent.sessions import index, upkeep

    directory = place.directory(asked, environ)
    path = Path(index.find(directory, name).path)
    return _remove([each for each in upkeep.kept(directory) if each.path == path], done=asked.yes)


def prune(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show old sessions, and remove them with `--yes`."""
    parser = Parser("codeagent sessions prune", usage="codeagent sessions prune [flags]", epilog=PRUNING)
    parser.add_argument("--older", default="", metavar="AGE", help="last used longer ago: 12h, 30d, 8w, 6m, 1y")
    parser.add_argument("--keep", default="", metavar="SIZE", help="keep at most so much in all: 500M, 2G")
    parser.add_argument("--yes", action="store_true", help="do it")
    place.add_place(parser)
    asked = parser.only_flags(argv)
    if not asked.older and not asked.keep:
        raise Mistake("Say which may go: codeagent sessions prune --older 30d, or --keep 500M. It shows them first.")
    oldest = time.time() - 86400 * _number(asked.older, _DAYS, "an age such as 30d") if asked.older else 0.0
    most = int(_number(asked.keep, _BYTES, "a size such as 500M")) if asked.keep else -1
    from codeagent.sessions import upkeep

    sessions = upkeep.kept(place.directory(asked, environ))
    return _remove(upkeep.overdue(sessions, oldest, most), done=asked.yes, of=len(sessions))


def _number(text: str, units: Mapping[str, float], wanted: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]?)b?", text.strip().lower())
    if found is None or found[2] not in units:
        raise Mistake(f"{text!r} cannot be used here; wanted {wanted}")
    return float(found[1]) * units[found[2]]


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
