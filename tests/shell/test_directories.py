"""Where a command works after `cd`, against bash: nothing that runs unasked reads outside the project."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

PRELUDE = r"""
command_not_found_handle() {
  enable printf pwd [
  [ "$1" = false ] && return 1
  printf '%s\0%s\0' "$(pwd -P)" "$2" >> "$RECORD"
}
enable -n false true pwd printf [
"""
MOVES = ["cd src", "cd deep", "cd ..", "cd far", "cd docs", "cd nowhere", "cd src/deep", "cd far/..", "cd up", "cd ."]
READS = ["cat ../x", "cat ../../x", "cat x", "cat ../../../x", "cat docs/../../x", "cat up/../x"]
OTHERS = ["ls", "true", "false"]
LINKS = [" && ", " && ", " || ", "; ", " | "]


def line(chance: random.Random) -> str:
    made = [chance.choice(MOVES)]
    for _ in range(chance.randint(1, 5)):
        made += [chance.choice(LINKS), chance.choice(chance.choice([MOVES, READS, OTHERS]))]
    return "".join(made)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nothing_outside_is_read(read: Any, project: Path, tmp_path: Path) -> None:
    prelude, record = tmp_path / "prelude", tmp_path / "record"
    prelude.write_text(PRELUDE)
    environment = {"PATH": "/nowhere", "BASH_ENV": str(prelude), "RECORD": str(record)}
    chance = random.Random(20261129)
    ran = 0
    for command in {line(chance) for _ in range(6_000)}:
        reading = read(command)
        if "cat" not in command or not reading.plain or not all(part.readonly for part in reading.parts):
            continue
        record.unlink(missing_ok=True)
        subprocess.run(
            ["/bin/bash", "-c", "--", command], cwd=project, env=environment, capture_output=True, check=False
        )
        told = record.read_bytes().decode().split("\0")[:-1] if record.exists() else []
        for directory, operand in zip(told[::2], told[1::2], strict=True):
            if operand:
                ran += 1
                assert (Path(directory) / operand).resolve().is_relative_to(project), command
    assert ran > 100
