"""`codeagent replay`: proves offline that a session's requests follow from its log, and runs its tools again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean, clean_line
from codeagent.flags import Mistake, Parser
from codeagent.subcommands import place

if TYPE_CHECKING:
    from argparse import Namespace

    from codeagent.core.events import Entry
    from codeagent.sessions.comparing import Parting

ABOUT = "Rebuilds every request of a session from its log, offline, and compares it with what was recorded."

EXAMPLES = """\
examples:
  codeagent replay                     every request of the newest session rebuilt, the first difference named
  codeagent replay ID --frames         one frame an event, the same bytes every time
  codeagent replay ID --against ID2    two runs compared: replies, calls, results
  codeagent replay ID --run-tools      the tools run again in a copy of the project, results compared
  codeagent replay FILE.jsonl --json   a log that lies elsewhere, for a script

exit code: 0 when all is equal, 1 when something differs
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent replay`."""
    usage = "codeagent replay [SESSION] [flags]"
    made = Parser("codeagent replay", usage=usage, description=ABOUT, epilog=EXAMPLES, takes=("session",))
    act = made.add_mutually_exclusive_group()
    act.add_argument("--frames", action="store_true", help="print one frame an event")
    act.add_argument("--against", default="", metavar="ID", help="compare with another run, call by call")
    act.add_argument("--run-tools", action="store_true", help="run the tools again in a copy, compare results")
    made.add_argument("--project", default="", metavar="DIR", help="copy this directory, not the session's")
    made.add_argument("--all", action="store_true", help="with --run-tools: also what may reach beyond the copy")
    made.add_argument("--keep", action="store_true", help="with --run-tools: keep the copy")
    made.add_argument("--json", action="store_true", help="for scripts")
    place.add_place(made)
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do one of the four; 1 when there is a difference."""
    reading = parser()
    asked, words = reading.words(argv)
    directory = place.directory(asked, environ)
    _, entries = place.opened(directory, place.newest_or(words, reading.prog, directory))
    if asked.frames:
        return _frames(entries, as_json=asked.json)
    if asked.against:
        from codeagent.sessions.comparing import compare

        return _partings(list(compare(entries, place.opened(directory, asked.against)[1])), as_json=asked.json)
    if asked.run_tools:
        return _run_tools(entries, asked, environ)
    return _requests(entries, as_json=asked.json)


def _requests(entries: Sequence[Entry], *, as_json: bool) -> int:
    from codeagent.sessions.replay import replay

    found = replay(entries)
    if as_json:
        from msgspec.json import encode

        sys.stdout.write(encode(found).decode() + "\n")
        return int(bool(found.differences))
    if not found.differences:
        from codeagent.fronts.present import count

        sys.stdout.write(f"{count(found.requests, 'request')} rebuilt from the log, each equal to what was sent.\n")
        return 0
    first = found.differences[0]
    sys.stdout.write(
        f"{len(found.differences):,} of {found.requests:,} requests are not what was sent. The first: request "
        f"{first.number} (entry {first.position}), {first.part}\n"
        f"  was  {clean_line(first.was)}\n"
        f"  is   {clean_line(first.now)}\n"
    )
    return 1


def _frames(entries: Sequence[Entry], *, as_json: bool) -> int:
    from codeagent.fronts.frames import frames

    for frame in frames(entries):
        sys.stdout.write((json.dumps(frame) if as_json else frame) + "\n")
    return 0


def _partings(found: Sequence[Parting], *, as_json: bool, left_out: Iterable[str] = ()) -> int:
    if as_json:
        from msgspec.json import encode

        sys.stdout.write(encode({"differences": found, "left_out": list(left_out)}).decode("utf-8", "replace") + "\n")
        return int(bool(found))
    for parting in found:
        sys.stdout.write(clean_line(parting.what) + "\n")
        sys.stdout.writelines(f"  {clean(line)}\n" for line in parting.lines)
    for words in left_out:
        sys.stdout.write(f"left out: {clean_line(words)}\n")
    if not found:
        sys.stdout.write("No difference.\n")
    return int(bool(found))


def _run_tools(entries: Sequence[Entry], asked: Namespace, environ: Mapping[str, str]) -> int:
    from codeagent.sessions.comparing import place as recorded_place
    from codeagent.wiring.rerun import rerun

    source = Path(asked.project or recorded_place(entries))
    if not source.is_dir():
        raise Mistake(
            f"There is no directory {source}. Name the project: codeagent replay ID --run-tools --project DIR"
        )
    ran = rerun(entries, source.resolve(), environ, Path.home(), everything=asked.all, keep=asked.keep)
    if not asked.json:
        for words in ran.notes:
            sys.stdout.write(clean_line(words) + "\n")
    return _partings(ran.differences, as_json=asked.json, left_out=ran.left_out)
