"""Context: what 50 steps cost with and without the cache, and what building, counting and summing up take."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codeagent.core import compaction
from codeagent.core.budget import Meter
from codeagent.core.cache_audit import CacheAudit
from codeagent.core.context import Headings, bill
from codeagent.core.conversation import Fold, digest, request
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Decided,
    Entry,
    Opened,
    ToolFinished,
    ToolStarted,
    UserSaid,
)
from codeagent.core.messages import Text, ToolUse, Usage
from codeagent.core.ports import ModelInfo
from codeagent.core.views import Plain
from codeagent.sessions.search import search
from codeagent.sessions.store import Log
from tests.bench.run import Row, agent, project
from tests.loopback import Loopback, Reply, call, say

STEPS = 50


def rows() -> list[Row]:
    """All of them."""
    return [*_fifty(1, 32_000, "50 steps"), *_fifty(25, 0, "50 steps, 25 files"), *_own_work(), *_search()]


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


def _fifty(files: int, bar: float, name: str) -> list[Row]:
    with project() as here, Loopback(alternating(here, files=files)) as server:
        _, done = agent(here, server, "go", "--max-turns", str(STEPS + 2), "--permission-mode", "bypass")
    assert done.returncode == 0, done.stderr
    used = [seen.usage for seen in server.requests]
    prompts = [sum(u[k] for k in u if k.endswith("input_tokens")) for u in used]
    read = sum(u["cache_read_input_tokens"] for u in used)
    return [
        Row(f"{name}: cost units with the cache", sum(map(units, used)), bar),
        Row(f"{name}: cost units without it", sum(prompts), 0),
        Row(f"{name}: prompt tokens read from the cache", 100 * read / sum(prompts), 0, "%"),
        Row(f"{name}: first prompt", prompts[0], 0, "tokens"),
        Row(f"{name}: last prompt", prompts[-1], 0, "tokens"),
    ]


def _own_work() -> list[Row]:
    """What context costs us beside the model: requests, summing up, counting."""
    entries = session(2_000)
    tail = entries[: len(entries) // 2]
    cut = compaction.plan(entries, INFO, POLICY)
    assert cut is not None
    reply = AssistantSaid((Text("A summary. " * 400),))

    def compact() -> None:
        found = compaction.plan(entries, INFO, POLICY)
        assert found is not None
        digest(found.ask)
        request([*entries, compaction.outcome(found, reply, INFO, "manual", ())])

    fold, meter, audit = Fold(), Meter(), CacheAudit()
    asked = fold.request(entries)
    said = next(e for e in reversed(entries) if isinstance(e, AssistantSaid))

    def account() -> None:
        meter.see(said)
        compaction.due(entries, INFO, POLICY)
        list(audit.heard(asked, said, 0.0, None))

    return [
        Row("request of a session of 2,000 events", median(lambda: request(entries)), 20, "ms"),
        Row("summing up 2,000 events, without the model", median(compact), 100, "ms"),
        Row("accounting of a step", median(account), 1, "ms"),
        Row(
            "bill of the context of 2,000 events",
            median(lambda: bill(asked, INFO, Headings("# G", "# M"), 150_000, 90_000)),
            0,
            "ms",
        ),
        Row("request of the first 1,000 events", median(lambda: request(tail)), 0, "ms"),
    ]


def median(work: Callable[[], object], runs: int = 9, clock: Callable[[], float] = time.process_time) -> float:
    """Milliseconds, of our own processor time unless another clock is given: other programs do not count."""
    took = []
    for _ in range(runs):
        began = clock()
        work()
        took.append(1000 * (clock() - began))
    return statistics.median(took)


INFO = ModelInfo("m", "M", 200_000, 32_000)
POLICY = compaction.Policy()


def session(count: int) -> list[Entry]:
    """A session of about so many entries: a read and a command by turns, as a real one has them."""
    entries: list[Entry] = [Opened("s", "/p", ("system",), (), "m", 1000), UserSaid((Text("go"),))]
    for step in range(count // 5):
        use = ToolUse(f"t{step}", "read", {"file_path": f"/p/file{step}.py"})
        entries.append(Asked(step, "m", "0" * 64, "", "", step, 1000))
        entries.append(AssistantSaid((Text("I look."), use), "tool_use", Usage(50, 20, cache_read=200 * step)))
        entries.append(Decided(use.id, "read", "Read", "allow", "mode"))
        entries.append(ToolStarted(use.id, "read", "file.py", "Read file.py", Plain("")))
        entries.append(ToolFinished(use.id, "read", (Text("a line of code\n" * 40),)))
    return entries


def _search(megabytes: int = 100) -> list[Row]:
    """Transcripts searched by us and by rg: words that occur nowhere, so that all is read."""
    with project() as here:
        logs = here / ".agent/sessions"
        logs.mkdir(parents=True)
        first = logs / "20261129-120000-a.jsonl"
        log = Log.create(first, time.time)
        for number in range(2_000):
            log.append(ToolFinished(f"t{number}", "read", (Text("a line of code, and another one\n" * 60),)))
        log.close()
        whole = first.read_bytes()
        for number in range(1, megabytes * 1_000_000 // len(whole)):
            (logs / f"20261129-12{number:04d}-a.jsonl").write_bytes(whole)
        words = "a word that nobody said"
        rg = ["rg", "-i", "-F", "--no-ignore", "--hidden", words, str(logs)]
        ours = median(lambda: search(logs, words, rg=shutil.which("rg") or ""), 5, time.perf_counter)
        alone = median(lambda: search(logs, words), 5, time.perf_counter)
        theirs = median(lambda: subprocess.run(rg, capture_output=True, check=False), 5, time.perf_counter)
        spoken = median(lambda: search(logs, "another one", rg=shutil.which("rg") or ""), 3, time.perf_counter)
    return [
        Row(f"search of {megabytes} MB of transcripts / rg -i", ours / theirs, 2),
        Row(f"search of {megabytes} MB of transcripts", ours, 0, "ms"),
        Row(f"search of {megabytes} MB without rg", alone, 0, "ms"),
        Row("search that finds its 20 places at once", spoken, 0, "ms"),
    ]
