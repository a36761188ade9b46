"""`codeagent demo`: the guided tour on a sample project, without key or network."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from codeagent.flags import Mistake, Parser

EXAMPLES = """\
examples:
  codeagent demo              the tour, in the interface that fits this terminal
  codeagent demo --plain      line by line
  codeagent demo --dir DIR    leave the sample project in DIR
"""


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Prepare the sample project and open a session on it; the exit code of that session."""
    parser = Parser("codeagent demo", description=__doc__, epilog=EXAMPLES)
    parser.add_argument("--plain", action="store_true", help="line by line")
    parser.add_argument("--dir", default="", help="where the sample project goes; a temporary directory otherwise")
    parser.add_argument("--fast", action="store_true", help="do not pace the words")
    asked = parser.only_flags(argv)

    from codeagent import wiring
    from codeagent.cli import choose
    from codeagent.demo.approver import YesAloud
    from codeagent.demo.tour import prepare
    from codeagent.options import Options

    try:
        tour = prepare(Path(asked.dir) if asked.dir else None, search_path=environ.get("PATH", ""))
    except OSError as error:
        raise Mistake(f"The sample project cannot be written: {error}. Name a place for it: --dir DIR") from None
    options = Options(
        prompt=tour.prompt,
        model=f"script:{tour.script}",
        allowed_tools=tour.rules,
        cwd=str(tour.root),
        plain=asked.plain,
        bare=True,
    )
    front = choose(options, environ)
    pace = 0.0 if asked.fast or front == "headless" else tour.pace
    if front != "headless":
        return wiring.run(options, front, pace=pace)
    code = wiring.run(options, front, wrap=lambda shown: YesAloud(shown, _tell))
    _tell(f"The sample project is in {tour.root}")
    return code


def _tell(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()
