"""`codeagent sessions export`: one session to read elsewhere, to play again, or as the model got it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.flags import Mistake, Parser
from codeagent.subcommands import place

if TYPE_CHECKING:
    from codeagent.core.events import Entry

ABOUT = "One session to read elsewhere, to play again, or as the model got it."

EXAMPLES = """\
examples:
  codeagent sessions export ID                          Markdown on standard output
  codeagent sessions export ID -o talk.html             one HTML file that needs nothing else
  codeagent sessions export ID --as-script -o a.script  its replies again: codeagent --model script:a.script
  codeagent sessions export ID --messages --step 3      the messages of the third request, as the API got them
"""


def export_parser() -> Parser:
    """The parser of `codeagent sessions export`."""
    usage = "codeagent sessions export ID [flags]"
    made = Parser("codeagent sessions export", usage=usage, description=ABOUT, epilog=EXAMPLES, takes=("session",))
    made.add_argument("--format", choices=("md", "html", "json"), default="", help="usual: by the file's name, or md")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--as-script", action="store_true", help="a recording for --model script:FILE")
    form.add_argument("--messages", action="store_true", help="the message list of a request")
    made.add_argument("--step", type=int, default=0, metavar="N", help="with --messages: which request (usual: last)")
    made.add_argument("-o", "--output", default="", metavar="FILE", help="write here; an existing file is kept")
    place.add_place(made)
    return made


def export(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Write the session in the form that is wanted."""
    reading = export_parser()
    asked, words = reading.words(argv)
    found, entries = place.opened(place.directory(asked, environ), place.one(words, reading.prog))
    if asked.as_script:
        from codeagent.core.rewriting import rewritten
        from codeagent.core.token_shapes import masked
        from codeagent.models.retelling import retell

        text = retell([rewritten(entry, masked) for entry in entries])
    elif asked.messages:
        text = _messages(entries, asked.step)
    else:
        from codeagent.fronts.exports import format_of, render

        text = render(entries, found.title, asked.format or format_of(asked.output))
    return _write(text, asked.output)


def _messages(entries: Sequence[Entry], number: int) -> str:
    from codeagent.models.wire_views import body
    from codeagent.sessions.inspection import exchange

    return json.dumps(body(exchange(entries, number).request)["messages"], indent=1) + "\n"


def _write(text: str, output: str) -> int:
    data = text.encode("utf-8", "replace")
    if not output or output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return 0
    target = Path(output).expanduser()
    try:
        with target.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise Mistake(f"{target} exists already and is left as it is. Name another file.") from None
    except OSError as fault:
        raise Mistake(f"{target} cannot be written: {fault.strerror or fault}.") from None
    sys.stderr.write(f"Written to {target}\n")
    return 0
