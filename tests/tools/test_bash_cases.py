"""The bash cases: facts that a shell tool must get right, each from a report or a reference shell."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from bash_session import Session, running, text_of, until
from pydantic import ValidationError

from codeagent.core.ports import Result
from codeagent.core.views import Shell
from codeagent.host.sandbox import Sandbox, find
from codeagent.tools.bash import BashInput

CASES = Path(__file__).parents[1] / "cases"
ROWS = [json.loads(line) for line in (CASES / "tools" / "bash.jsonl").read_text().splitlines()]
INPUTS = [json.loads(line) for line in (CASES / "security" / "tool_input.jsonl").read_text().splitlines()]


@pytest.fixture(params=["free", pytest.param("walled", marks=pytest.mark.skipif(not find(), reason="no bubblewrap"))])
async def session(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Session]:
    root = tmp_path / "project"
    root.mkdir()
    case = request.node.callspec.params.get("case", {})
    home = tmp_path / "home"
    sandbox = Sandbox([root], home) if request.param == "walled" else None
    session = Session(root, {**os.environ, **case.get("env", {})}, sandbox=sandbox)
    yield session
    await session.jobs.close()


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["id"])
async def test_case(session: Session, case: dict[str, Any]) -> None:
    for step in case["steps"]:
        await _step(session, step)


async def _step(session: Session, step: dict[str, Any]) -> None:
    expect = dict(step.get("expect", {}))
    gen = step.get("command_gen")
    command = gen["prefix"] + gen["repeat"] * gen["times"] + gen["suffix"] if gen else step["command"]
    began, memory = time.monotonic(), _peak_mb()
    wanted_error = expect.pop("error", "") or expect.pop("or_error", "")
    try:
        if "cancel_after_s" in expect:
            await _cancelled(session, command, expect)
            return
        result = await session.run(
            command, timeout=step.get("timeout_s"), run_in_background=step.get("background", False)
        )
        if step.get("background"):
            result = await session.run(job=session.jobs.list()[-1].id, timeout=expect["max_seconds"])
    except ValidationError:
        if wanted_error not in ("invalid_argument", "too_long"):
            raise
        return
    assert wanted_error != "invalid_argument"
    assert time.monotonic() - began <= expect.pop("max_seconds", 60)
    assert _peak_mb() - memory <= expect.pop("max_rss_mb", 50)
    _compare(result, expect)


def _compare(result: Result, expect: dict[str, Any]) -> None:
    text = text_of(result)
    assert isinstance(result.view, Shell)
    view = result.view
    checks = {
        "exit_code": lambda want: view.exit_code == want,
        "exit_code_any": lambda want: view.exit_code in want,
        "exit_code_not": lambda want: view.exit_code not in (want, None),
        "output": lambda want: view.output == want,
        "contains": lambda want: all(part in text for part in want),
        "not_contains": lambda want: not any(part in text for part in want),
        "says": lambda want: all(any(word.lower() in text.lower() for word in group) for group in want),
        "timed_out": lambda want: result.timed_out is want and result.is_error,
        "truncated": lambda want: ("bytes omitted" in text) is want,
        "max_chars": lambda want: len(text) <= want,
        "full_output_file_ends_with": lambda want: _whole(text).endswith(want),
        "fd_count_max": lambda want: sys.platform != "linux" or int(view.output) <= want,
        "finishes": lambda want: (view.exit_code is not None) is want,
    }
    for key, want in expect.items():
        assert checks[key](want), (key, want, text[:2000])
    if view.exit_code not in (0, None) and not result.timed_out:
        assert f"exit code {view.exit_code}" in text


async def _cancelled(session: Session, command: str, expect: dict[str, Any]) -> None:
    call = asyncio.create_task(session.run(command))
    await until(lambda: running(expect["no_process_left"]))
    began = time.monotonic()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - began <= 2.5
    assert not running(expect["no_process_left"])


def _whole(text: str) -> str:
    found = re.search(r"full output: (.+?)\]", text)
    assert found, text
    return Path(found[1]).read_text()


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform == "linux" else 1024 * 1024)


@pytest.mark.parametrize("case", [row for row in INPUTS if row["tool"] == "bash"], ids=lambda case: case["id"])
def test_bad_input_names_the_field(case: dict[str, Any]) -> None:
    if case["expect"]["is_error"] == "either" and case["input"]["timeout"] > 0:
        assert BashInput.model_validate(case["input"]).timeout == 600
        return
    with pytest.raises(ValidationError) as caught:
        BashInput.model_validate(case["input"])
    assert all(name in str(caught.value) for name in case["expect"]["names"])
