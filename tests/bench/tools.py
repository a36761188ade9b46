"""The tools on a tree of 50,000 files, a file of 20 MB and a gigabyte of output, as ratios to what they stand on."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeagent.core.effects import Permit
from codeagent.host.listing import Lister
from codeagent.host.paths import Places
from codeagent.host.workspace import Workspace
from codeagent.tools.glob import Glob
from codeagent.tools.grep import Grep
from tests.bench.run import Row, environment, project, tool_seconds
from tests.loopback import Loopback, call, say

FOLDERS, FILES = 500, 100
NEEDLE = "quetzalcoatlus"
RUNS = 7


def rows() -> list[Row]:
    """All of them."""
    with project() as here:
        _grow(here)
        found = _searches(here)
    return [*found, _edit(), *_output()]


def _grow(here: Path) -> None:
    """A work tree as of a big project: 50,000 files in 500 folders, a fifth of them Python; one holds the rare word."""
    texts = [f"def function_{n}(value):\n    return value + {n}\n\n\n".encode() * (5 + n) for n in range(50)]
    for folder in range(FOLDERS):
        place = here / f"package{folder // 25}" / f"part{folder}"
        place.mkdir(parents=True)
        for file in range(FILES):
            (place / f"module{file}.{'py' if file % 5 == 3 else 'txt'}").write_bytes(texts[(folder + file) % 50])
    (here / "package7/part180/module33.py").write_bytes(texts[3] + f"# {NEEDLE}\n".encode())
    (here / ".gitignore").write_text("build/\n*.log\n__pycache__/\n")
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=here, env=environment(here), check=True)


def _searches(here: Path) -> list[Row]:
    env = environment(here)
    here = here.resolve()
    workspace = Workspace(here, here.parent / "home", here.parent / "spill", env)
    places = Places(here, workspace.home, (), lambda: here)
    listing = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    globbed = _ratio(
        lambda: _called(Glob(workspace, places.judge), "10,000 files", pattern="**/*.py"),
        lambda: _ran(listing, env, here),
    )
    rg = Lister(here, env).rg
    rows = [Row("glob **/*.py / git ls-files", globbed, 2.0)]
    if not rg:
        return rows
    command = [rg, "--no-config", "--hidden", "--glob=!.git", "-n", NEEDLE, "."]
    with_rg, without = Grep(workspace, places.judge), Grep(workspace, places.judge)
    without._lister = _NoRipgrep(here, env)
    for name, tool, bar in (("with rg", with_rg, 1.3), ("without rg", without, 4.0)):
        ratio = _ratio(
            lambda tool=tool: _called(tool, NEEDLE, pattern=NEEDLE, output_mode="content"),
            lambda: _ran(command, env, here),
        )
        rows.append(Row(f"grep of a rare word {name} / rg", ratio, bar))
    return rows


class _NoRipgrep(Lister):
    @property
    def rg(self) -> str:
        return ""


def _called(tool: Any, wanted: str, **given: Any) -> None:
    """One call as the core makes it; the answer must hold what is wanted."""

    async def act() -> str:
        args = tool.Input.model_validate(given)
        effect = await tool.plan(args)
        *_, result = [step async for step in tool.run(args, Permit(effect))]
        return result.summary + "".join(block.text for block in result.blocks)

    assert wanted in LOOP.run(act())


LOOP = asyncio.Runner()
"""One event loop for all calls, as in the program."""


def _ran(command: list[str], env: dict[str, str], here: Path) -> None:
    subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _ratio(one: Callable[[], None], other: Callable[[], None]) -> float:
    """The median of one / other, turn about, after a round to warm up."""
    pairs = [(_seconds(one), _seconds(other)) for _ in range(RUNS + 1)]
    return statistics.median(mine / theirs for mine, theirs in pairs[1:])


def _seconds(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _edit() -> Row:
    """An edit in a file of 20 MB, all of the program's memory included."""
    with project() as here:
        (here / "big.txt").write_bytes(b"".join(b"line number %d of a long file\n" % n for n in range(640_000)))
        replies = [
            call("read", file_path="big.txt", limit=5),
            call("edit", file_path="big.txt", old_string="line number 400000 of", new_string="the line of"),
            say("done"),
        ]
        peak, took = _agent(here, replies)
        assert b"\nthe line of a long file\n" in (here / "big.txt").read_bytes()
    return Row(f"edit in 20 MB ({peak:.0f} MB at most 300)", took[1] if peak <= 300 else 99, 3.0, "s")


def _output() -> list[Row]:
    with project() as here:
        base, _ = _agent(here, [call("bash", command="echo"), say("done")])
    with project() as here:
        line = "x" * 99
        peak, took = _agent(here, [call("bash", command=f"yes {line} | head -c 1000000000"), say("done")])
    return [
        Row("seconds for 1 GB of output (200 MB/s)", took[0], 5.0, "s"),
        Row("memory that 1 GB of output costs", peak - base, 50, "MB"),
    ]


_MEASURE = """
import os, sys
_, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(f"\\n{used.ru_maxrss} {os.waitstatus_to_exitcode(status)}")
"""
"""A child counts the memory of the process that forked it: this one is small."""


def _agent(here: Path, replies: list[Any]) -> tuple[float, list[float]]:
    """A run of `codeagent -p` on its own: its peak memory in MB, and what each call took."""
    with Loopback(replies) as server:
        program = [sys.executable, "-m", "codeagent", "-p", "go", "--permission-mode", "bypass"]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _MEASURE, *program],
            env=environment(here, server.url),
            cwd=here,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    peak, code = map(int, done.stdout.split()[-2:])
    assert code == 0, done.stderr
    return peak / (1024 if sys.platform != "darwin" else 1024 * 1024), tool_seconds(here)
