"""Context: what 50 steps cost with and without the cache, and what building, counting and summing up take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.run import Row, agent, project
from tests.loopback import Loopback, Reply, call, say

STEPS = 50


def rows() -> list[Row]:
    """All of them."""
    return [*_fifty(1, 32_000), *_fifty(25, 0)]


def units(usage: Mapping[str, Any]) -> float:
    """What a prompt costs, in uncached input tokens."""
    read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    return float(usage["input_tokens"] + 1.25 * written + 0.1 * read)


def alternating(here: Path, count: int = STEPS, *, files: int = 1) -> list[Reply]:
    """Turn about the `read` of a file of 32 lines and an `echo`, and a last word; the files are written."""
    for number in range(files):
        lines = "".join(f"value_{n:02d} = {n * number}\n" for n in range(32))
        (here / f"file{number:02d}.py").write_text(lines)
    replies = [
        call("bash", command=f"echo {n}") if n % 2 else call("read", file_path=f"file{n // 2 % files:02d}.py")
        for n in range(count)
    ]
    return [*replies, say("done")]


def _fifty(files: int, bar: float) -> list[Row]:
    with project() as here, Loopback(alternating(here, files=files)) as server:
        _, done = agent(here, server, "go", "--max-turns", str(STEPS + 2), "--permission-mode", "bypass")
    assert done.returncode == 0, done.stderr
    used = [seen.usage for seen in server.requests]
    prompts = [sum(u[k] for k in u if k.endswith("input_tokens")) for u in used]
    read = sum(u["cache_read_input_tokens"] for u in used)
    return [
        Row("50 steps: cost units with the cache", sum(map(units, used)), bar),
        Row("50 steps: cost units without it", sum(prompts), 0),
        Row("50 steps: prompt tokens read from the cache", 100 * read / sum(prompts), 0, "%"),
        Row("50 steps: first prompt", prompts[0], 0, "tokens"),
        Row("50 steps: last prompt", prompts[-1], 0, "tokens"),
    ]
