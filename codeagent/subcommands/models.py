"""`codeagent models`: the models that can be named, with their windows and prices."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from codeagent.flags import Parser

EXAMPLES = """\
examples:
  codeagent models               the table
  codeagent models --json        the same for a script
  codeagent --model opus         use one, by name or alias

beside these: offline (a small stand-in that is no language model) and script:FILE (a recording)
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent models`."""
    about = "The models that can be named, with their windows and prices."
    made = Parser("codeagent models", usage="codeagent models [flags]", description=about, epilog=EXAMPLES)
    made.add_argument("--json", action="store_true", help="for scripts")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:  # noqa: ARG001 - all subcommands look the same
    """Print the table."""
    asked = parser().only_flags(argv)
    from codeagent.models import catalog

    aliases = {model: alias for alias, model in catalog.ALIASES.items()}
    if asked.json:
        rows = [_facts(name, aliases.get(name, "")) for name, _ in catalog.listed()]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return 0
    width = max(len(name) for name, _ in catalog.listed())
    for name, about in catalog.listed():
        usual = " (used when none is named)" if name == catalog.DEFAULT else ""
        sys.stdout.write(f"{name:<{width}}  {about}{usual}\n")
    sys.stdout.write(f"Prices as of {catalog.DATE}.\n")
    return 0


def _facts(name: str, alias: str) -> dict[str, object]:
    """One model for a script; prices are dollars per million tokens."""
    from codeagent.models import catalog

    info = catalog.info(name)
    price = info.price
    return {
        "id": name,
        "alias": alias,
        "default": name == catalog.DEFAULT,
        "window": info.window,
        "max_output": info.max_output,
        "efforts": list(info.efforts),
        "price": {"input": price.input, "output": price.output, "cache_read": price.read} if price else None,
    }
