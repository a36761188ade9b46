"""Runs lines in bash where every program is a stand-in that only writes its arguments down.

Reads a JSON list of lines from stdin and writes a JSON list of recorded word lists to stdout. All
builtins but `enable` are switched off and PATH leads nowhere, so that each command reaches the
handler for unknown commands.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

PRELUDE = r"""
command_not_found_handle() { enable printf; printf '%s\0' "$#" "$@" >> "$RECORD"; }
for name in $(compgen -b); do [ "$name" = enable ] || names="$names $name"; done
enable -n $names

"""


def recorded(path: Path) -> list[list[str]]:
    pieces = path.read_bytes().decode("utf-8", "replace").split("\0")[:-1] if path.exists() else []
    found = []
    while pieces:
        count = int(pieces[0])
        found.append(pieces[1 : count + 1])
        pieces = pieces[count + 1 :]
    return found


def main() -> None:
    work = Path(sys.argv[1])
    prelude, record = work / "prelude", work / "record"
    prelude.write_text(PRELUDE)
    ground = work / "ground"
    ground.mkdir()
    for name in "ab":
        (ground / name).write_text(name)
    answers = []
    for line in json.load(sys.stdin):
        record.unlink(missing_ok=True)
        subprocess.run(
            ["/bin/bash", "-c", "--", line],
            cwd=ground,
            env={"PATH": "/nowhere", "BASH_ENV": str(prelude), "RECORD": str(record), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        answers.append(recorded(record))
    json.dump(answers, sys.stdout)


os.umask(0o077)
main()
