"""Start-up: how soon things answer, as ratios to bare Python and to importing the SDK."""

from __future__ import annotations

import statistics
import sys

from tests.bench.run import Row, agent, environment, paired, peak_megabytes, project, seconds
from tests.loopback import Loopback, say

PASS = [sys.executable, "-c", "pass"]
SDK = [sys.executable, "-c", "import anthropic, os; os._exit(0)"]


def rows(runs: int = 7) -> list[Row]:
    """`--version`, `--help`, the first request of `-p`, and the memory of "hello"."""
    with project() as here:
        env = environment(here)
        version = paired([sys.executable, "-m", "codeagent", "--version"], PASS, env, here, runs)
        helped = paired([sys.executable, "-m", "codeagent", "--help"], PASS, env, here, runs)
        first, walls = [], []
        for _ in range(runs + 1):
            plain = seconds(SDK, env, here)
            with Loopback([say("hello")]) as server:
                began, done = agent(here, server, "hello")
            assert done.returncode == 0, done.stderr
            first.append((server.requests[0].at - began) / plain)
            walls.append(server.requests[0].at - began)
    return [
        Row("--version / python -c pass", version, 2.5),
        Row("--help / python -c pass", helped, 6.0),
        Row("first request of -p / import anthropic", statistics.median(first[1:]), 0.6),
        Row("first request of -p", statistics.median(walls[1:]), 0, "s"),
        Row("peak memory of -p hello", peak_megabytes(), 120, "MB"),
    ]
