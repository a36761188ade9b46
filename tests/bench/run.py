"""Runs codeagent as a process against the loopback model, and reads what it cost."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.loopback import KEY, Loopback

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, and what it may be at most (0: only told)."""

    name: str
    value: float
    bar: float
    unit: str = ""

    @property
    def good(self) -> bool:
        return not self.bar or self.value <= self.bar


@contextmanager
def project() -> Iterator[Path]:
    """An empty project with a home beside it."""
    with tempfile.TemporaryDirectory(prefix="codeagent-bench-") as folder:
        (Path(folder) / "home").mkdir()
        here = Path(folder) / "project"
        here.mkdir()
        yield here


def environment(here: Path, url: str = "") -> dict[str, str]:
    """A clean environment: own home, the loopback's address and key."""
    home = str(here.parent / "home")
    env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TERM": "xterm"}
    return {**env, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url} if url else env


def seconds(command: Sequence[str], env: dict[str, str], cwd: Path) -> float:
    """How long a command takes."""
    began = time.monotonic()
    subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.monotonic() - began


def paired(one: Sequence[str], two: Sequence[str], env: dict[str, str], cwd: Path, runs: int) -> float:
    """The median of the ratio one / two, turn about, after a round to warm up."""
    ratios = [seconds(one, env, cwd) / seconds(two, env, cwd) for _ in range(runs + 1)]
    return statistics.median(ratios[1:])


def agent(here: Path, server: Loopback, *arguments: str) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    """Run `codeagent -p`; when it was started (monotonic), and how it ended."""
    command = [sys.executable, "-m", "codeagent", "-p", *arguments]
    began = time.monotonic()
    done = subprocess.run(
        command, env=environment(here, server.url), cwd=here, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return began, done


def tool_seconds(here: Path) -> list[float]:
    """What each call took by the session's own log, in order; several calls of a step overlap."""
    took = []
    for log in sorted((here / ".agent/sessions").glob("*.jsonl")):
        for line in log.read_bytes().splitlines():
            entry = json.loads(line)["e"]
            if entry["kind"] == "tool_finished":
                took.append(entry.get("took_ms", 0) / 1000)
    return took


def peak_megabytes() -> float:
    """The largest resident size of any child so far, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
