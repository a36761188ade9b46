"""The screen: the real front in a pty against the loopback model, beside a bare Textual chat app in the same run.

Times of the two are compared. A bar in plain milliseconds is for a calm machine, where the bare app's box stands
after `CALM` seconds; on a slower one it grows by as much as that box comes later. Linux only (it reads /proc).
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench import counted, prose
from tests.bench.probe import LETTERS, Echo, Probe
from tests.bench.run import Row, agent, environment, project
from tests.loopback import Loopback, Reply, call, say

BARE = [sys.executable, "-m", "tests.bench.bare_chat"]
REAL = [sys.executable, "-m", "codeagent", "--permission-mode", "bypass"]
OLD = [sys.executable, "-m", "tests.tui.play"]
CALM = 0.227
BOX, BARE_BOX = "What shall we do?", "Write here"
HALF = len(LETTERS) // 2
REST = 1.0
"""Seconds of silence after a mark in a very long reply, so that it is drawn before more words push it away."""


def rows(runs: int = 3) -> Iterator[Row]:
    """All of them, as they are measured."""
    bare_box, start = _start(runs)
    slow = max(1.0, bare_box / CALM)
    yield Row("bare app: its box", 1000 * bare_box, 0, "ms")
    yield from start
    bare = _bare()
    yield from _idle()
    yield from _stream(bare, slow)
    yield from counted.rows()
    yield from _stops(slow)
    yield from _after_turns()
    yield from _old(bare, slow)


def paced(count: int = prose.COUNT) -> Reply:
    """The reply that is streamed, a token each five milliseconds."""
    block = {"type": "text", "text": prose.text(count), "cut": 4}
    return Reply((block,), delay=1 / prose.RATE)


@contextlib.contextmanager
def started(argv: list[str], here: Path, url: str = "", **more: str) -> Iterator[Probe]:
    """The program in a terminal of its own."""
    env = {**environment(here, url), "TERM": "xterm-256color", **more}
    with Probe(argv, env=env, cwd=str(here)) as probe:
        yield probe


def _bare() -> dict[str, Any]:
    """What the bare app needs: echo while streaming, processor, bytes, memory."""
    with project() as here, started(BARE, here) as bare:
        bare.when(BARE_BOX)
        bare.run_for(1)
        bare.write("go")
        return {"memory": bare.megabytes(), **_one_stream(bare)}


def _idle(burst: int = 7) -> list[Row]:
    """Keys while nothing else happens: a few in the one, a few in the other, so that both meet the same machine."""
    mine: list[float] = []
    theirs: list[float] = []
    with (
        project() as here,
        Loopback([]) as server,
        started(BARE, here) as bare,
        started(REAL, here, server.url) as real,
    ):
        bare.when(BARE_BOX)
        real.when("? keys")
        real.run_for(3)  # what the first request needs has been imported
        for at in range(0, len(LETTERS), burst):
            theirs += bare.echo_times(LETTERS[at : at + burst])
            mine += real.echo_times(LETTERS[at : at + burst])
    lost = len(LETTERS) - len(mine)
    return _ratios("idle echo", Echo.of(mine, lost), Echo.of(theirs, 0), 1.2)


def _one_stream(probe: Probe) -> dict[str, Any]:
    """Enter, then type while 2,400 tokens come."""
    cpu, written, start = probe.cpu(), len(probe.raw), len(probe.raw)
    probe.write("\r")
    probe.run_for(2)
    echo = probe.echo(LETTERS[HALF:], gap=0.15)
    probe.when(prose.END, start)
    probe.run_for(0.5)
    return {"streaming": echo, "cpu": probe.cpu() - cpu, "bytes": len(probe.raw) - written}


def _start(runs: int) -> tuple[float, list[Row]]:
    """Seconds to the bare app's box, and what is compared with it; they start in turn, so that both meet the same."""
    bare_boxes, boxes, asked, kept = [], [], [], 0
    for _ in range(runs):
        with project() as here, Loopback([say("Here I am.")]) as server:
            with started(BARE, here) as bare:
                bare_boxes.append(bare.when(BARE_BOX))
            with started(REAL, here, server.url) as real:
                boxes.append(real.when(BOX))
                real.write("hello\r")
                real.when("Here I am.")
                asked.append(server.requests[0].at - real.began)
            with started(REAL, here, server.url) as real:
                real.write("early")
                real.when("? keys")
                real.run_for(0.5)
                kept += "early" in real.text
    bare_box = statistics.median(bare_boxes)
    return bare_box, [
        Row("input box / bare", statistics.median(boxes) / bare_box, 1.15),
        Row("a prompt typed at once, as a request / bare box", statistics.median(asked) / bare_box, 3.3),
        Row("starts at which type-ahead was lost", runs - kept, 0.5),
    ]


def _ratios(name: str, mine: Echo, bare: Echo, bar: float) -> list[Row]:
    return [
        Row(f"{name} p50 / bare", mine.p50 / bare.p50, bar),
        Row(f"{name} p95 / bare", mine.p95 / bare.p95, bar),
        Row(f"{name} p50", mine.p50, 0, "ms"),
        Row(f"{name} p95", mine.p95, 0, "ms"),
        Row(f"{name} keys lost", mine.lost, 0.5),
    ]


def _stream(bare: dict[str, Any], slow: float) -> list[Row]:
    arrived: list[float] = []

    def reply(_body: Any) -> Reply:
        arrived.append(time.monotonic())
        return [say("Warm."), say("Again, quickly."), paced()][len(arrived) - 1]

    with project() as here, Loopback(reply) as server, started(REAL, here, server.url) as real:
        real.when("? keys")
        real.run_for(1.5 * slow)  # what the first request needs has been imported
        memory, idle_cpu = real.megabytes(), real.cpu()
        real.run_for(30)
        idle_cpu = real.cpu() - idle_cpu
        real.write("hello\r")
        real.when("Warm.")
        real.run_for(1)
        real.write("go")
        real.run_for(0.3)
        pressed = time.monotonic()
        real.write("\r")
        word = real.began + real.when("Again,", len(real.raw))
        real.write("go on")
        real.run_for(1)
        stream = _one_stream(real)
    return [
        Row("idle processor over 30 s", 100 * idle_cpu / 30, 0.3, "%"),
        Row("memory idle", memory, 120, "MiB"),
        Row("Enter to request, warm", 1000 * (server.requests[1].at - pressed), 10 * slow, "ms"),
        Row("request to first word", 1000 * (word - arrived[1]), 25 * slow, "ms"),
        *_ratios("streaming echo", stream["streaming"], bare["streaming"], 0.25),
        Row("processor for a stream of 12 s / bare", stream["cpu"] / bare["cpu"], 0.25),
        Row("processor for a stream of 12 s", stream["cpu"], 0, "s"),
        Row("written for 9.6 kB of text", stream["bytes"] / 1000, 300, "kB"),
    ]


def _stops(slow: float) -> list[Row]:
    sleep = f"1000.{os.getpid()}"
    replies = [paced(20_000), call("bash", command=f"sleep {sleep}")]
    with project() as here, Loopback(replies) as server, started(REAL, here, server.url) as real:
        real.when("? keys")
        real.write("go\r")
        real.when("discount")
        real.run_for(0.5)
        closed = _until(real, server.left.is_set, "\x1b")
        real.run_for(0.5)
        real.write("run\r")
        _until(real, lambda: _running("sleep", sleep), "")
        number = _running("sleep", sleep)
        dead = _until(real, lambda: not _alive(number), "\x1b")
    return [
        Row("Esc to the stream closed", 1000 * closed, 60 * slow, "ms"),
        Row("Esc to the command dead", 1000 * dead, 100 * slow, "ms"),
    ]


def _running(*argv: str) -> int:
    """The process with this command line as the host counts it (a sandbox counts anew), 0 when there is none."""
    wanted = "\0".join((*argv, "")).encode()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if file.read_bytes() == wanted:
                return int(file.parent.name)
    return 0


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(probe: Probe, true: Any, keys: str) -> float:
    """Press, and wait until this holds; seconds."""
    began = time.monotonic()
    probe.write(keys)
    while not true():
        probe._read(0.002)
        assert time.monotonic() - began < 30, probe.text[-600:]
    return time.monotonic() - began


def _after_turns(turns: int = 150, runs: int = 5) -> list[Row]:
    """A session of 150 requests is opened again, in turn with the bare app."""
    with project() as here:
        (here / "a.txt").write_text("".join(f"line {n}\n" for n in range(4 * turns)))
        steps = [say(f"Step {n}.") + call("read", path="a.txt", offset=4 * n + 1, limit=4) for n in range(turns)]
        with Loopback([*steps, say("All of it was read."), paced()]) as server:
            _, done = agent(here, server, "go", "--max-turns", str(turns + 2), "--permission-mode", "bypass")
            assert done.returncode == 0, done.stderr
            session = next((here / ".agent/sessions").glob("*.jsonl")).stem
            shown = []
            for _ in range(runs):
                with started(BARE, here) as bare:
                    box = bare.when(BARE_BOX)
                with started([*REAL, "-r", session], here, server.url) as real:
                    shown.append(real.when("All of it was read.") / box)
                    real.run_for(1)
                    memory = real.megabytes()
    return [
        Row("150 turns back on screen / bare box", statistics.median(shown), 0.45 / CALM),
        Row("memory after 150 turns", memory, 140, "MiB"),
    ]


def _old(bare: dict[str, Any], slow: float) -> list[Row]:
    """With messages behind it: streaming with 1,000, ready with 5,000, and a very long reply."""
    with project() as here:
        with started([*OLD, "history=1000", f"tokens={prose.COUNT}", "rate=200"], here) as old:
            old.when("? keys")
            old.run_for(1)
            old.write("go\r")
            old.run_for(2)
            echo = old.echo(LETTERS[HALF:], gap=0.15)
        with started([*OLD, "history=5000"], here) as old:
            old.when("once")
            ready = old.when("? keys")
            old.run_for(1)
            memory = old.megabytes()
            old.write("\x1b[O")
            old.run_for(0.3)
            pressed = time.monotonic()
            old.write("\x1b[Iж")
            focus = old.began + old.when("ж", len(old.raw)) - pressed
        flat = _very_long(here)
    return [
        *_ratios("streaming echo after 1,000 messages", echo, bare["streaming"], 0.25),
        Row("5,000 messages ready", 1000 * ready, 1000 * slow, "ms"),
        Row("memory with 5,000 messages over bare", memory - bare["memory"], 80, "MiB"),
        Row("focus out and in, to a key's echo", 1000 * focus, 50 * slow, "ms"),
        *flat,
    ]


def _very_long(here: Path, tokens: int = 100_000) -> list[Row]:
    """A reply of 100,000 tokens as fast as it goes: memory and speed of its last fifth against its second."""
    with started([*OLD, f"tokens={tokens}", "rate=1000000", f"rest={REST}"], here) as old:
        old.when("? keys")
        old.write("go\r")
        marks = []
        for fifth in range(1, 6):
            old.when(f"mark{fifth}")
            marks.append((time.monotonic(), old.megabytes()))
    second, last = (marks[n][0] - marks[n - 1][0] - REST for n in (1, 4))
    return [
        Row("last fifth of 100,000 tokens / second fifth", last / second, 1.3),
        Row("memory that the last three fifths cost", marks[4][1] - marks[1][1], 20, "MiB"),
    ]
