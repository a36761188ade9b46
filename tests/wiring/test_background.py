"""Background commands as a person sees them, and what crashed runs left behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.core.errors import UsageFault
from codeagent.host.clock import SystemClock
from codeagent.host.jobs import Jobs
from codeagent.host.strays import COOKIE
from codeagent.wiring.background import Background, end_orphans


def started(jobs: Jobs, command: str, folder: Path) -> None:
    jobs.start(command, folder, {"PATH": os.environ["PATH"]}, folder / "spill")


async def test_a_person_lists_reads_and_stops(tmp_path: Path) -> None:
    background = Background()
    assert background.listed() == ()
    jobs = Jobs(f"bg-{tmp_path.name}", SystemClock())
    background.follow(jobs)
    started(jobs, "echo hello; sleep 60", tmp_path)
    async with asyncio.timeout(10):
        while "hello" not in background.output("job1"):
            await asyncio.sleep(0.01)
    (listed,) = background.listed()
    assert (listed.id, listed.code, listed.stopped) == ("job1", None, False)
    await background.stop("job1")
    (listed,) = background.listed()
    assert listed.stopped
    assert listed.code is not None
    with pytest.raises(UsageFault, match="job7"):
        background.output("job7")
    await background.close()


async def test_another_session_ends_the_jobs_of_the_one_before(tmp_path: Path) -> None:
    background = Background()
    first, second = (Jobs(f"bg-{tmp_path.name}-{n}", SystemClock()) for n in (1, 2))
    background.follow(first)
    started(first, "sleep 60", tmp_path)
    background.follow(second)
    assert background.listed() == ()
    await background.close()
    assert first.list()[0].code is not None


def test_what_a_crashed_run_left_is_ended() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    env = {**os.environ, COOKIE: f"session.{gone.pid}.1."}
    with subprocess.Popen(["sleep", "60"], env=env, start_new_session=True) as left:
        end_orphans().join(10)
        assert left.wait(10) < 0
