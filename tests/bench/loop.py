"""The loop: what a step costs beside the model and the tool, parallel calls, and the size of what is sent."""

from __future__ import annotations

import json
import statistics
import time

import msgspec

from tests.bench.run import Row, agent, project, tool_seconds
from tests.loopback import Loopback, call, say

LATER = ("web_fetch", "present_plan", "task")
"""Tools beyond files, shell, todo list, questions and memory."""


def rows() -> list[Row]:
    """All of them."""
    return [*_steps(), *_parallel(), *_sizes()]


def _steps(count: int = 200) -> list[Row]:
    """From the last byte of a reply to the next request, minus the tool's own time."""
    with project() as here:
        (here / "a.txt").write_text("".join(f"line {n}\n" for n in range(4 * count)))
        replies = [call("read", file_path="a.txt", offset=4 * n + 1, limit=4) for n in range(count)]
        with Loopback([*replies, say("done")]) as server:
            _, done = agent(here, server, "go", "--max-turns", str(count + 1))
        assert done.returncode == 0, done.stderr
        took = tool_seconds(here)
        gaps = [server.requests[n + 1].at - server.answered[n] - took[n] for n in range(count)]
        early, late = statistics.median(gaps[:50]), statistics.median(gaps[-50:])
        grown = _encoding(server.bodies[-25]) - _encoding(server.bodies[25])
    return [
        Row("overhead of a step, first 50 of 200", 1000 * early, 7, "ms"),
        Row("overhead of a step, last 50 of 200", 1000 * late, 1000 * (early + 1.5 * grown), "ms"),
    ]


def _encoding(body: object) -> float:
    began = time.perf_counter()
    for _ in range(10):
        json.dumps(body)
    return (time.perf_counter() - began) / 10


def _parallel() -> list[Row]:
    def run(calls: int) -> float:
        step = call("bash", command="sleep 0.5")
        for _ in range(calls - 1):
            step += call("bash", command="sleep 0.5")
        with project() as here, Loopback([step, say("done")]) as server:
            _, done = agent(here, server, "go")
            assert done.returncode == 0, done.stderr
            return server.requests[1].at - server.answered[0]

    ratios = [run(8) / run(1) for _ in range(3)]
    return [Row("8 x sleep 0.5 / 1 x", statistics.median(ratios), 1.25)]


def _sizes() -> list[Row]:
    with project() as here:
        command = "head -c 5000000 /dev/zero | tr '\\0' x | fold -w 99"
        replies = [call("bash", command=command), say("done")]
        with Loopback(replies) as server:
            _, done = agent(here, server, "go", "--permission-mode", "bypass")
        assert done.returncode == 0, done.stderr
        first, second = server.bodies
    told = second["messages"][-1]["content"][0]["content"]
    prompt = len(msgspec.json.encode([first["system"], first["tools"]]))
    core = [first["system"], [tool for tool in first["tools"] if tool["name"] not in LATER]]
    return [
        Row("system prompt and all tool schemas", prompt, 12_000, "bytes"),
        Row(
            "the same for files, shell, todo, memory",
            len(msgspec.json.encode(core)),
            10_000,
            "bytes",
        ),
        Row("5 MB of output as the model gets it", sum(len(part["text"].encode()) for part in told), 10_000, "bytes"),
    ]
