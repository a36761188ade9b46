"""`codeagent sessions`: which sessions this project has, what was said in one, and what can be done with them."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from codeagent.core.clean import clean_line
from codeagent.flags import Parser, unknown_act
from codeagent.subcommands import place

if TYPE_CHECKING:
    from codeagent.core.events import Entry
    from codeagent.core.listed import Listed

EXAMPLES = """\
commands (each has its own --help):
  list                 the sessions, the latest first (also without a word)
  show ID              what was said in one, or its trace
  search WORDS         where words occur in all of them
  export ID            as Markdown, HTML, JSON, a script, or the messages as sent
  rename ID NAME       give one a name
  fork ID              copy one, whole or up to a step
  delete ID            remove one
  prune                remove old ones, after a preview

examples:
  codeagent sessions                     the sessions of this project, the latest first
  codeagent sessions list --json         the same for a script
  codeagent sessions show ID --trace     turns, steps and calls with tokens, time and cost
  codeagent sessions export ID -o a.html one file to read or to mail
  codeagent -r ID                        go on with one

ID is an id, its beginning, or a name.
"""

SHOWING = """\
examples:
  codeagent sessions show ID                   what was said
  codeagent sessions show ID --agent USE_ID    what one of its sub-agents did
  codeagent sessions show ID --trace           the tree: turn, step, tool call, with tokens, time, cost
  codeagent sessions show ID --trace --json    the same as spans with the GenAI names of OpenTelemetry
"""

ACTS = {
    "list": "codeagent.subcommands.sessions:list_",
    "show": "codeagent.subcommands.sessions:show",
    "search": "codeagent.subcommands.upkeep:search",
    "export": "codeagent.subcommands.export:export",
    "rename": "codeagent.subcommands.upkeep:rename",
    "fork": "codeagent.subcommands.upkeep:fork",
    "delete": "codeagent.subcommands.upkeep:delete",
    "prune": "codeagent.subcommands.upkeep:prune",
}


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the first word says; list the sessions when there is none."""
    at = next((i for i, word in enumerate(argv) if not word.startswith("-") and argv[i - 1 : i] != ["--cwd"]), None)
    if at is None:
        return list_(argv, environ)
    act = argv[at]
    if act not in ACTS:
        raise unknown_act("codeagent sessions", act, ACTS)
    module, _, name = ACTS[act].partition(":")
    do = cast("Callable[[Sequence[str], Mapping[str, str]], int]", getattr(importlib.import_module(module), name))
    return do([*argv[:at], *argv[at + 1 :]], environ)


def parser(act: str = "") -> Parser:
    """The parser of `codeagent sessions ACT`; what it takes begins with the act."""
    module, _, name = ACTS.get(act, ACTS["list"]).partition(":")
    made = cast("Callable[[], Parser]", getattr(importlib.import_module(module), f"{name.rstrip('_')}_parser"))()
    made.takes = (tuple(ACTS), *made.takes)
    return made


def list_parser() -> Parser:
    """The parser of `codeagent sessions list`."""
    about = "The sessions of this project, the latest first, and what can be done with one."
    usage = "codeagent sessions [COMMAND] [flags]"
    made = Parser("codeagent sessions", usage=usage, description=about, epilog=EXAMPLES)
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--all", action="store_true", help="headless runs too")
    place.add_place(made)
    return made


def list_(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """List the sessions."""
    asked = list_parser().only_flags(argv)
    directory = place.directory(asked, environ)
    from codeagent.sessions import index

    kept = index.listed(directory)
    found = [each for each in kept if asked.all or asked.json or not each.headless]
    if asked.json:
        from msgspec.json import encode

        sys.stdout.write(encode(found).decode() + "\n")
        return 0
    from codeagent.fronts.present import count

    now = time.time()
    rows = [_row(each, now) for each in found]
    if not found:
        rows = [f"No sessions in {directory}."]
    if left := len(kept) - len(found):
        rows.append(f"Not shown: {count(left, 'headless run')}. To see all: codeagent sessions --all")
    sys.stdout.write("\n".join([*rows, ""]))
    return 0


def _row(each: Listed, now: float) -> str:
    from codeagent.fronts import present

    about = (present.age(each.when, now), present.count(each.turns, "turn"), present.money(each.cost), each.branch)
    return f"{each.id}  {clean_line(each.title)}  ({', '.join(filter(None, about))})"


def show_parser() -> Parser:
    """The parser of `codeagent sessions show`."""
    about = "One session: what was said, or what happened with figures."
    usage = "codeagent sessions show ID [flags]"
    made = Parser("codeagent sessions show", usage=usage, description=about, epilog=SHOWING, takes=("session",))
    made.add_argument("--trace", action="store_true", help="what happened as a tree, with figures")
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--agent", metavar="USE_ID", help="of the sub-agent of this call, instead of the session")
    place.add_place(made)
    return made


def show(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show one session, or its trace."""
    reading = show_parser()
    asked, words = reading.words(argv)
    found, entries = place.opened(place.directory(asked, environ), place.one(words, reading.prog))
    if asked.agent is not None:
        from codeagent.sessions import transcripts

        entries = transcripts.opened(Path(found.path), asked.agent)
    if asked.trace:
        return _trace(entries, as_json=asked.json)
    if asked.json:
        from msgspec.json import encode

        sys.stdout.write(encode(entries).decode("utf-8", "replace") + "\n")
        return 0
    from codeagent.fronts.repl.paper import Paper, Terminal
    from codeagent.fronts.repl.printer import Printer

    paper = Paper(sys.stdout, Terminal.of(environ))
    printer = Printer(paper)
    for entry in entries:
        printer.see(entry)
    paper.gap()
    paper.line(_spending(entries), "muted")
    return 0


def _spending(entries: Sequence[Entry]) -> str:
    """What the session used, at the prices of its model."""
    from codeagent.core.budget import Meter
    from codeagent.core.conversation import parameters
    from codeagent.fronts import reports
    from codeagent.models import catalog

    return reports.spending(Meter(entries), entries, catalog.info(parameters(entries).model).price)


def _trace(entries: Sequence[Entry], *, as_json: bool) -> int:
    from codeagent.sessions.trace import trace

    run_ = trace(entries)
    if as_json:
        import json

        from codeagent.sessions.genai import spans

        sys.stdout.write(json.dumps(spans(run_), indent=1) + "\n")
        return 0
    from codeagent.fronts.tracing import tree

    sys.stdout.writelines(f"{line}\n" for line in tree(run_))
    return 0
