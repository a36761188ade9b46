"""`codeagent demo`: the tour, in the front that fits."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.flags import Mistake, Parser

if TYPE_CHECKING:
    from codeagent.demo.tour import Tour

ABOUT = "A tour with no key and no network: a recorded model mends a small broken project, and asks you first."

AFTER = """\
Everything but the model's words is real: files, tests, questions, session. Nothing of yours is touched.

examples:
  codeagent demo            the tour, in a new temporary directory
  codeagent demo DIR        the tour, in this directory, which must not hold one yet
  codeagent demo --plain    the same in plain lines
  codeagent demo -p         without questions: it says yes itself, and says so
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent demo`."""
    usage = "codeagent demo [DIR] [flags]"
    made = Parser("codeagent demo", usage=usage, description=ABOUT, epilog=AFTER, takes=("directory",))
    made.add_argument("--plain", action="store_true", help="plain lines instead of the full screen")
    made.add_argument("-p", "--print", action="store_true", help="without questions, on standard output")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Prepare the tour and open a session on it; the exit code. Raises UsageFault where it cannot be put."""
    from codeagent.cli import choose
    from codeagent.core.clean import clean
    from codeagent.options import Options
    from codeagent.wiring import run as start

    given, words = parser().words(argv)
    if len(words) > 1:
        raise Mistake(f"One directory at a time: {words[0]} or {words[1]}?")

    tour = _prepared(words[0] if words else "", environ)
    options = Options(
        prompt=tour.prompt,
        print=given.print,
        plain=given.plain,
        model=f"script:{tour.script}",
        permission_mode="default",
        allowed_tools=tour.rules,
        cwd=str(tour.root),
    )
    sys.stderr.write(f"The tour works in {clean(str(tour.root))}\n")
    sys.stderr.flush()
    front = choose(options, environ)
    if front != "headless":
        return start(options, front, pace=tour.pace)

    import os

    from codeagent.demo.guide import Guide

    os.dup2(1, 2)  # here the story is the answer
    return start(options, front, wrap=Guide)


def _prepared(directory: str, environ: Mapping[str, str]) -> Tour:
    from codeagent.core.errors import UsageFault
    from codeagent.demo.tour import prepare

    target = Path(directory).expanduser() if directory else None
    if target and (target / "shop").exists():
        raise UsageFault(f"There is a {target / 'shop'} already. Name another directory, or none.")
    try:
        return prepare(target, search_path=environ.get("PATH", ""))
    except OSError as fault:
        reason = fault.strerror or fault
        raise UsageFault(
            f"The sample project cannot be written: {reason}. Name a directory: codeagent demo DIR"
        ) from None
