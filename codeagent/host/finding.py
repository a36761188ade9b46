"""Where words stand in the log files of a directory, found by rg: byte offsets, no lines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MOST_LINES = 40
"""Lines of a file that are told: the first ones are enough to show some places of each."""


def offsets(rg: str, folder: Path, words: bytes) -> dict[str, list[int]] | None:
    """By file name, where the words begin, in any case; None when rg (an absolute path) could not tell.

    Only `*.jsonl` directly in the folder; links are not followed.
    """
    command = [
        rg,
        "--no-config",
        "--no-ignore",
        "--hidden",
        "--max-depth=1",
        "--glob=*.jsonl",
        "--text",
        "-i",
        "-F",
        "-o",
    ]
    command += ["-b", "-0", "-H", "--no-heading", "--no-line-number", "--color=never", f"--max-count={MOST_LINES}"]
    try:
        done = subprocess.run(
            [*command, "-e", words, "--", str(folder)], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except (OSError, ValueError):
        return None
    if done.returncode not in (0, 1):
        return None
    found: dict[bytes, list[int]] = {}
    for line in done.stdout.split(b"\n"):
        path, zero, rest = line.partition(b"\0")
        number = rest.partition(b":")[0]
        if zero and number.isdigit():
            found.setdefault(path, []).append(int(number))
    return {os.fsdecode(path).rpartition("/")[2]: places for path, places in found.items()}
