"""`codeagent permissions`: the rules in force, why a call would be allowed, asked or refused, and checks in bulk."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeagent.core.clean import clean
from codeagent.flags import Kind, Mistake, Parser, nearest, split_rules

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground

EXAMPLES = """\
examples:
  codeagent permissions                                      the rules in force, and where they stand
  codeagent permissions why bash 'git push && rm -rf build'  the decision, part by part
  codeagent permissions why edit shop/cart.py --mode acceptEdits
  codeagent permissions why read '{"file_path": "~/.ssh/config"}'
  codeagent permissions check calls.jsonl                    one decision a line; runs nothing, asks nobody

a line for check: {"id", "tool", "input", "mode"?, "allow"?, "ask"?, "deny"?, "root"?, "cwd"?, "home"?}
"""


TOOLS = ("bash", "read", "write", "edit", "grep", "glob", "web_fetch")
"""Tools whose calls are most often asked about."""

ACTS: dict[str, tuple[Kind, ...]] = {"list": (), "why": (TOOLS,), "check": ("file",)}
"""Act -> the kinds of words that it takes."""


def parser(act: str = "") -> Parser:
    """The parser of `codeagent permissions ACT`."""
    made = Parser(
        "codeagent permissions",
        usage="codeagent permissions [list | why TOOL INPUT | check [FILE]] [flags]",
        description="The rules in force, why a call would be allowed, asked or refused, and checks in bulk.",
        epilog=EXAMPLES,
        takes=(tuple(ACTS), *ACTS.get(act, ())),
    )
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--cwd", default="", metavar="DIR", help="of the project in this directory")
    made.add_argument("--mode", default="", metavar="MODE", help="as if in this mode")
    made.add_argument("--trust", action="store_true", help="as if this directory were trusted")
    made.add_argument("--bare", action="store_true", help="without any settings file")
    for name in ("--allowed-tools", "--disallowed-tools"):
        made.add_argument(name, action="append", default=[], metavar="LIST", help="further rules, as in a run")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """List, explain or check."""
    asked, words = parser().words(argv)
    act, rest = (words[0], words[1:]) if words else ("list", [])
    ground = _ground(asked, environ)
    if act == "list" and not rest:
        return _list(ground, as_json=asked.json)
    if act == "why" and len(rest) >= 2:
        return _why(ground, rest[0], " ".join(rest[1:]), as_json=asked.json)
    if act == "check" and len(rest) <= 1:
        return _check(ground, rest[0] if rest else "")
    if act == "why":
        raise Mistake("Of which call? codeagent permissions why TOOL INPUT, for example: why bash 'git push'")
    near = nearest(act, ACTS) if act not in ACTS else ""
    hint = f" Did you mean {near}?" if near else ""
    raise Mistake(
        f"codeagent permissions cannot {' '.join(words)!r}. It knows: list, why TOOL INPUT, check [FILE].{hint}"
    )


def _ground(asked: Namespace, environ: Mapping[str, str]) -> Ground:
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    options = Options(
        cwd=asked.cwd,
        permission_mode=asked.mode,
        trust=asked.trust,
        bare=asked.bare,
        allowed_tools=split_rules(asked.allowed_tools),
        disallowed_tools=split_rules(asked.disallowed_tools),
    )
    return Ground(options, environ, Path.home())


def _say(text: str) -> None:
    sys.stdout.write(clean(text) + "\n")


def _list(ground: Ground, *, as_json: bool) -> int:
    from codeagent.wiring.permissions import in_force, listed

    if as_json:
        rows = [
            {"kind": rule.kind, "rule": rule.text, "where": rule.source, "never": flaw}
            for rule, flaw in in_force(ground.rules())
        ]
        _say(json.dumps({"mode": ground.mode, "rules": rows, "problems": ground.rulebook.problems()}, indent=1))
        return 0
    _say(listed(ground))
    return 0


def _why(ground: Ground, tool: str, text: str, *, as_json: bool) -> int:
    from codeagent.wiring import permissions

    given = _given(tool, text)
    row = {"tool": tool, "input": given}
    if as_json:
        _say(json.dumps(permissions.checked(row, ground, ground.mode), ensure_ascii=False))
    else:
        _say("\n".join(permissions.why(ground, tool, given)))
    return 0


def _given(tool: str, text: str) -> dict[str, Any]:
    from codeagent.wiring.sketch import input_of

    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as fault:
            raise Mistake(f"INPUT begins like a JSON object and is none: {fault}") from None
        if isinstance(found, dict):
            return found
    return input_of(tool, text)


def _check(ground: Ground, name: str) -> int:
    """One answer a line, as soon as the line is there; from a file, or from standard input."""
    for line in _lines(name):
        sys.stdout.write(json.dumps(_answer(line, ground), ensure_ascii=True) + "\n")
        sys.stdout.flush()
    return 0


def _answer(line: bytes, ground: Ground) -> dict[str, Any]:
    from codeagent.wiring import permissions

    row: Any = None
    try:
        row = json.loads(line)
        return permissions.checked(row, ground, "default")
    except (ValueError, RecursionError, OSError) as fault:
        known = row.get("id") if isinstance(row, dict) else None
        why = f"This line cannot be decided: {fault}"
        return {"id": known, "decision": "ask", "by": "builtin", "risk": "HIGH", "why": why}


def _lines(name: str) -> Iterator[bytes]:
    if not name and os.isatty(0):
        raise Mistake("check reads JSON lines from standard input: codeagent permissions check < calls.jsonl")
    try:
        with Path(name).open("rb") if name else sys.stdin.buffer as file:
            yield from (line for line in file if line.strip())
    except OSError as fault:
        raise Mistake(f"{name} cannot be read: {fault.strerror or fault}.") from None
