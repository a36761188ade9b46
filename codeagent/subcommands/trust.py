"""`codeagent trust`: what this directory brings along and would act; and the yes or no to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from codeagent.core.clean import clean_line
from codeagent.core.effects import AskTrust
from codeagent.core.errors import UsageFault
from codeagent.flags import Mistake, Parser

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground

ACTS = ("show", "yes", "no")

EXAMPLES = """\
examples:
  codeagent trust            what this directory brings, and what of it is in force
  codeagent trust yes        trust it as it is now; a change is asked again
  codeagent trust no         trust nothing of it
  codeagent trust --json     the list for a script
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent trust`."""
    made = Parser(
        "codeagent trust",
        usage="codeagent trust [show | yes | no] [flags]",
        description="What this directory brings along and would act; and the yes or no to it.",
        epilog=EXAMPLES,
        takes=(ACTS,),
    )
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--cwd", default="", metavar="DIR", help="of this directory")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show, accept or refuse."""
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    asked, words = parser().words(argv)
    if len(words) > 1 or not {*words} <= {*ACTS}:
        raise Mistake(f"codeagent trust cannot {' '.join(words)!r}. It knows: {', '.join(ACTS)}")
    ground = Ground(Options(cwd=asked.cwd), environ, Path.home())
    question = ground.consent.everything()
    if asked.json:
        rows = [
            msgspec.to_builtins(each) | {"trusted": ground.consent.believes(Path(each.path), each.digest)}
            for each in (*question.items, *question.others)
        ]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return 0
    if words in (["yes"], ["no"]):
        try:
            ground.consent.keep(question, yes=words == ["yes"])
        except OSError as fault:
            raise UsageFault(f"The answer cannot be kept: {fault}") from None
    _show(question, ground)
    return 0


def _show(question: AskTrust, ground: Ground) -> None:
    """What there is, each with whether it is in force."""
    lines = [] if question.items else [f"{question.directory} brings nothing along that would act."]
    for item in question.items:
        state = "in force" if ground.consent.believes(Path(item.path), item.digest) else "not in force"
        lines.append(f"{item.path.removeprefix(question.directory + '/')}  {item.kind}, {state}")
        lines += [f"  {words}" for words in item.words]
    sys.stdout.write("".join(f"{clean_line(line)}\n" for line in lines))
