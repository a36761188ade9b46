"""`codeagent memory`: what outlives the sessions of a project, listed, searched, read and edited."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.clean import clean
from codeagent.flags import Mistake, Parser, nearest
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
  codeagent memory edit lessons
"""

ACTS = ("list", "show", "search", "edit", "on", "off")


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the first word says; 1 when a search finds nothing."""
    parser = Parser("codeagent memory", usage="codeagent memory [COMMAND] [flags]", epilog=EXAMPLES)
    place.add_place(parser)
    asked, words = parser.words(argv)
    act, rest = (words[0], " ".join(words[1:])) if words else ("list", "")
    if act not in ACTS:
        near = nearest(act, ACTS)
        raise Mistake(
            f"codeagent memory cannot {act!r}. It knows: {', '.join(ACTS)}."
            + (f" Did you mean {near}?" if near else "")
        )
    if act in ("show", "search") and not rest:
        raise Mistake(f"What shall it {act}? codeagent memory {act} {'TOPIC' if act == 'show' else 'WORDS'}")
    shown, code = _done(_memory(asked.cwd, environ), act, rest, environ)
    sys.stdout.write(clean(shown) + "\n")
    return code


def _memory(cwd: str, environ: Mapping[str, str]) -> Shelf:
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    return Ground(Options(cwd=cwd), environ, Path.home()).shelf


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
