"""Bounds on time, measured: python -m pytest -m bench tests/tools/test_speed.py"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from codeagent.core.events import Saw
from codeagent.host.files import digest
from tests.tools.desk import Desk

pytestmark = pytest.mark.bench


async def test_glob_over_50_000_files_takes_at_most_twice_git(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    for folder in range(500):
        path = desk.root / f"d{folder % 50}" / f"s{folder}"
        path.mkdir(parents=True)
        for name in range(100):
            (path / f"f{name}.py").touch()
    subprocess.run(["git", "init", "-q"], cwd=desk.root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=desk.root, check=True)
    git, ours = [], []
    for _ in range(5):
        began = time.monotonic()
        subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=desk.root, check=True, capture_output=True)
        git.append(time.monotonic() - began)
        outcome = await desk.call("glob", pattern="**/f1*.py")
        assert outcome.result is not None
        assert outcome.result.summary == "5,500 files"
        ours.append(outcome.seconds)
    print(f"git {min(git):.3f} s, glob {min(ours):.3f} s")
    assert min(ours) < 2 * min(git) + 0.02


async def test_the_event_loop_goes_on_while_20_mb_are_edited(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    path = desk.put("big.txt", "0123456789abcdef\n" * 1_200_000 + "NEEDLE\n")
    desk.workspace.seen.note(Saw(str(path), digest(path.read_bytes())))
    lags = []

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            lags.append(time.monotonic() - began - 0.005)

    ticking = asyncio.create_task(tick())
    outcome = await desk.call("edit", file_path="big.txt", old_string="NEEDLE", new_string="found")
    ticking.cancel()
    print(f"{outcome.seconds:.2f} s, longest lag {max(lags) * 1000:.0f} ms on {os.cpu_count()} cores")
    assert outcome.seconds < 3
    assert sorted(lags)[-2] < 0.1
