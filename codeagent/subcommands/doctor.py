"""`codeagent doctor`: what this machine offers, what is missing, and what to do about it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.flags import Mistake, Parser

if TYPE_CHECKING:
    from codeagent.host.probing import Probed

EXAMPLES = """\
examples:
  codeagent doctor            check this machine, this terminal and this directory
  codeagent doctor --json     the same for a script
  codeagent doctor --offline  ask nobody, not even the model's address
  codeagent doctor --keys     press keys and see what arrives, to mend a key that does nothing

ok: works. note: worth knowing. missing: goes without. wrong: does not work; then the exit code is 1.
With a key, the model's address is asked once, without the key, whether it answers. Nothing else is contacted.
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent doctor`."""
    about = "What this machine offers, what is missing, and what to do about it."
    made = Parser("codeagent doctor", usage="codeagent doctor [flags]", description=about, epilog=EXAMPLES)
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--offline", action="store_true", help="do not ask the model's address")
    made.add_argument("--keys", action="store_true", help="show what each pressed key sends")
    made.add_argument("--cwd", default="", metavar="DIR", help="look from this directory")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the findings; 1 when something is wrong."""
    asked = parser().only_flags(argv)
    if asked.keys:
        return _keys()
    import msgspec

    from codeagent.options import Options
    from codeagent.wiring.findings import Doctor
    from codeagent.wiring.ground import Ground

    ground = Ground(Options(cwd=asked.cwd), environ, Path.home())
    found = list(Doctor(ground, _probed(environ), offline=asked.offline).findings())
    if asked.json:
        sys.stdout.write(json.dumps([msgspec.structs.asdict(finding) for finding in found], indent=1) + "\n")
    else:
        from codeagent.fronts import reports

        width = os.get_terminal_size(1).columns if os.isatty(1) else 0
        sys.stdout.write(reports.findings(found, width) + "\n")
    return int(any(finding.state == "wrong" for finding in found))


def _probed(environ: Mapping[str, str]) -> Probed | None:
    """What the terminal says of itself; None when standard input and output are none, or a dumb one."""
    if not (os.isatty(0) and os.isatty(1)) or environ.get("TERM", "dumb") in ("", "dumb"):
        return None
    from codeagent.host.probing import probe

    try:
        return probe(0, 1)
    except OSError:
        return None


def _keys() -> int:
    """Show what keys send, until q or Ctrl+C."""
    if not (os.isatty(0) and os.isatty(1)):
        raise Mistake("--keys needs a terminal to press keys in.")
    from codeagent.host.probing import pressed

    def see(data: bytes) -> bool:
        sys.stdout.write(f"{NAMES.get(data) or _typed(data):<14} {ascii(data)[2:-1]}\r\n")
        sys.stdout.flush()
        return data not in (b"q", b"\x03", b"\x04")

    sys.stdout.write("Press keys to see what arrives; q or Ctrl+C ends it.\n")
    sys.stdout.flush()
    pressed(0, see)
    return 0


NAMES = {
    b"\r": "Enter",
    b"\n": "Ctrl+J",
    b"\t": "Tab",
    b"\x1b": "Esc",
    b"\x7f": "Backspace",
    b"\x1b[Z": "Shift+Tab",
    b"\x1b[A": "Up",
    b"\x1b[B": "Down",
    b"\x1b[C": "Right",
    b"\x1b[D": "Left",
    b"\x1b\r": "Alt+Enter",
    b"\x1b[13;2u": "Shift+Enter",
    b"\x1b[27;2;13~": "Shift+Enter",
}
"""What common keys send."""


def _typed(data: bytes) -> str:
    """A name for what is not in the table."""
    if len(data) == 1 and data[0] < 32:
        return f"Ctrl+{chr(data[0] + 64)}"
    text = data.decode("utf-8", "replace")
    return text if text.isprintable() else "?"
