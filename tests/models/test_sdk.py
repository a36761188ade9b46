"""The SDK's import, each time in a fresh interpreter: the trimmed one works, the plain one is the net."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import Loopback, Reply, call, fail, say, think

ROOT = Path(__file__).parents[2]

PROGRAM = """
import asyncio, json, sys, threading
from codeagent.core.errors import ModelError
from codeagent.core.messages import Message, Request, Text, ToolSchema
from codeagent.models import sdk
from codeagent.models.anthropic import Anthropic

url, how = sys.argv[1:]
if how == "sabotaged":
    sdk.load(skipped=(*sdk.SKIPPED, "anthropic._streaming"))
elif how == "threads":
    threads = [threading.Thread(target=sdk.load) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

async def main():
    adapter = Anthropic(key="test-key", base_url=url, plain_sdk=how == "plain")
    tools = (ToolSchema("read", "Reads.", {"type": "object"}),)
    request = Request("claude-sonnet-5-5", ("You help.",), tools, (Message("user", (Text("hello"),)),), 4096)
    said, failures = None, []
    async for said in adapter.stream(request):
        pass
    for _ in range(3):
        try:
            async for _ in adapter.stream(request):
                pass
        except ModelError as error:
            failures.append([type(error).__name__, error.category])
    await adapter.close()
    uses = [[use.name, dict(use.input)] for use in said.uses]
    count = sum(name.split(".")[0] == "anthropic" for name in sys.modules)
    finders = [type(finder).__name__ for finder in sys.meta_path if "StandIn" in type(finder).__name__]
    print(json.dumps({"text": said.text, "uses": uses, "failures": failures, "modules": count, "finders": finders}))

asyncio.run(main())
"""


def run(how: str) -> Any:
    """The program's answer, and the milliseconds until its first request arrived."""
    odd = {"details": {"error_code": "claude_tag_writes_not_enabled"}}  # its error class is a stand-in
    replies = [
        think("hm") + say("I look.") + call("read", path="a.py"),
        fail(401, "authentication_error", "no"),
        Reply(status=403, type="permission_error", message="no", extra=odd),
        say("lost", fault="reset", at=3),
    ]
    with Loopback(replies) as server:
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM, server.url, how],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=50,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return {**json.loads(done.stdout), "ms": 1000 * (server.requests[0].at - began)}


@pytest.mark.parametrize("how", ["trimmed", "plain", "threads", "sabotaged"])
def test_a_reply_and_errors_come_through(how: str) -> None:
    got = run(how)
    assert got["text"] == "I look."
    assert got["uses"] == [["read", {"path": "a.py"}]]
    assert got["failures"] == [
        ["ModelUnavailable", "authentication_failed"],
        ["ModelUnavailable", "permission"],
        ["ModelBusy", "connection"],
    ]
    assert got["finders"] == []
    if how in ("trimmed", "threads"):
        assert got["modules"] < 350
    else:
        assert got["modules"] > 2000


def test_nothing_heavy_is_imported_before_the_first_request() -> None:
    program = "import sys, codeagent.models.anthropic, codeagent.models.retry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not {"anthropic", "httpx2", "pydantic", "anyio", "email", "difflib", "zipfile"} & set(done.stdout.split())


@pytest.mark.bench
def test_the_first_request_leaves_in_less_than_half_the_time_of_the_plain_import() -> None:
    def plain() -> float:
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import anthropic, os; os._exit(0)"], check=True, cwd=ROOT)
        return 1000 * (time.monotonic() - began)

    pairs = [(run("trimmed")["ms"], plain()) for _ in range(3)]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    print(f"first request after {ours:.0f} ms, plain import {theirs:.0f} ms, ratio {ours / theirs:.2f}")
    assert ours <= 0.45 * theirs
