"""`codeagent memory`: what outlives the sessions of a project, listed, searched, read and edited."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean
from codeagent.flags import Mistake, Parser, unknown_act
from codeagent.subcommands import place

if TYPE_CHECKING:
    from codeagent.wiring.remembering import Shelf

EXAMPLES = """\
commands:
  list            the index, one line a topic (also without a word)
  show TOPIC      a topic's text
  search WORDS    lines of topics that hold the words
  edit [TOPIC]    open a topic, or the index, in your editor
  on, off         whether new sessions of this project have a memory

examples:
  codeagent memory
  codeagent memory search "code style"
  codeagent memory list --json
  codeagent memory edit lessons
"""

ACTS: dict[str, tuple[str, ...]] = {
    "list": (),
    "show": ("topic",),
    "search": (),
    "edit": ("topic",),
    "on": (),
    "off": (),
}
"""Act -> the kinds of words that it takes."""


def parser(act: str = "") -> Parser:
    """The parser of `codeagent memory ACT`."""
    made = Parser(
        "codeagent memory",
        usage="codeagent memory [COMMAND] [flags]",
        description="What outlives the sessions of this project: listed, read, searched and edited.",
        epilog=EXAMPLES,
        takes=(tuple(ACTS), *ACTS.get(act, ())),
    )
    made.add_argument("--json", action="store_true", help="list, show, search: for scripts")
    place.add_place(made)
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the first word says; 1 when a search finds nothing."""
    asked, words = parser().words(argv)
    act, rest = (words[0], " ".join(words[1:])) if words else ("list", "")
    if act not in ACTS:
        raise unknown_act("codeagent memory", act, ACTS)
    if act in ("show", "search") and not rest:
        raise Mistake(f"What shall it {act}? codeagent memory {act} {'TOPIC' if act == 'show' else 'WORDS'}")
    if asked.json:
        return _for_script(_memory(asked.cwd, environ), act, rest)
    shown, code = _done(_memory(asked.cwd, environ), act, rest, environ)
    sys.stdout.write(clean(shown) + "\n")
    return code


def _memory(cwd: str, environ: Mapping[str, str]) -> Shelf:
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    return Ground(Options(cwd=cwd), environ, Path.home()).shelf


def _for_script(memory: Shelf, act: str, words: str) -> int:
    """The index, a topic or the places that hold the words, as JSON; 1 when a search finds nothing."""
    told: object
    match act:
        case "list":
            told = {"on": memory.on, "index": memory.index().splitlines()}
        case "show":
            told = {"topic": words, "text": memory.read(words)}
        case "search":
            rows = [line.split(":", 2) for line in memory.search(words)]
            told = [{"file": file, "line": int(line), "text": text.strip()} for file, line, text in rows]
        case _:
            raise Mistake(f"codeagent memory {act} has nothing to say to a script. --json goes with list, show, search")
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    return int(told == [])


def _done(memory: Shelf, act: str, words: str, environ: Mapping[str, str]) -> tuple[str, int]:
    """What to print, and the exit code."""
    match act:
        case "show":
            return memory.read(words).rstrip("\n"), 0
        case "search":
            found = memory.search(words)
            return "\n".join(found) or f"No topic holds {words!r}.", 0 if found else 1
        case "edit":
            from codeagent.host.editor import edit_file

            path = memory.path(words)
            edit_file(path, environ)
            problem = memory.adopt(path)
            return problem or f"{path.name} is as you left it.", 1 if problem else 0
        case "on" | "off":
            return f"The memory is {act} for new sessions here. It stands in {memory.switch(on=act == 'on')}", 0
        case _:
            off = "" if memory.on else "The memory is switched off. To switch it on: codeagent memory on\n\n"
            return off + (memory.index() or "Nothing is remembered yet."), 0
