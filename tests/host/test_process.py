"""Real shells: what they leave behind, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import which

import pytest

from codeagent.host import strays
from codeagent.host.clock import SystemClock
from codeagent.host.jobs import Jobs
from codeagent.host.process import ShellProcess, signal_of
from codeagent.host.sandbox import Sandbox, find

ENV = dict(os.environ)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
async def jobs(tmp_path: Path) -> AsyncIterator[Jobs]:
    jobs = Jobs(f"proc-{tmp_path.name}", SystemClock())
    yield jobs
    await jobs.close()


@pytest.fixture
def start(jobs: Jobs, tmp_path: Path):
    return lambda command: jobs.run(command, tmp_path, ENV, tmp_path / "spill")


@pytest.fixture
def nap(tmp_path: Path) -> str:
    """`sleep` with a number that no other test, in no other process, uses."""
    return f"sleep 9{zlib.crc32(str(tmp_path).encode())}"


def commands() -> list[str]:
    """The command lines of live processes."""
    listing = subprocess.run(["ps", "-axww", "-o", "stat=,command="], capture_output=True, text=True, check=True)
    return [line.split(None, 1)[1] for line in listing.stdout.splitlines() if not line.startswith("Z")]


def live(command: str) -> bool:
    return command in commands()


def mentioned(words: str) -> bool:
    return any(words in command for command in commands())


async def until(state, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not state():
            await asyncio.sleep(0.01)


async def text(process: ShellProcess) -> str:
    await process.wait()
    await process.finish()
    return process.output.shown(10_000).text


async def test_both_streams_come_in_order_and_the_code_is_told(start) -> None:
    process = start("echo 1; echo 2 >&2; echo 3; exit 7")
    assert await text(process) == "1\n2\n3\n"
    assert process.code == 7


async def test_it_has_no_terminal_and_a_session_of_its_own(start) -> None:
    process = start("test -t 0 || test -t 1 || echo none; ps -o pgid= -p $$")
    lines = (await text(process)).split()
    assert lines == ["none", str(process.pid)]


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("cd sub", "sub"),
        ("cd sub && false", "sub"),
        ("cd sub; exit 3", "sub"),
        ("(cd sub)", ""),
        ("cd sub; set -e; false", "sub"),
        ("cd sub; exec 200>&-", None),
        ("cd sub; trap 'echo mine' EXIT", None),
        ("cd sub; exec true", None),
        ("if true; then", ""),
    ],
)
async def test_where_the_shell_ended(start, tmp_path: Path, command: str, where: str | None) -> None:
    (tmp_path / "sub").mkdir()
    process = start(command)
    await text(process)
    assert process.cwd == ("" if where is None else str(tmp_path / where))


async def test_the_command_is_untouched(start) -> None:
    assert await text(start('echo "$LINENO [$BASH_ENV$CODEAGENT_FD] $#"\nnosuch')) == (
        "1 [] 0\nbash: line 2: nosuch: command not found\n"
    )
    assert await text(start("trap 'echo own' EXIT; exit 4")) == "own\n"
    assert await text(start("set -x; cd /")) == "+ cd /\n"


async def test_start_files_and_functions_of_the_user_do_not_run(jobs: Jobs, tmp_path: Path) -> None:
    (tmp_path / "rc").write_text("echo from rc\n")
    env = {**ENV, "BASH_ENV": str(tmp_path / "rc"), "ENV": str(tmp_path / "rc"), "BASH_FUNC_ls%%": "() { echo trap; }"}
    process = jobs.run("ls -d .", tmp_path, env, tmp_path / "spill")
    assert await text(process) == ".\n"


async def test_a_child_in_the_background_does_not_hold_the_call(start) -> None:
    began = time.monotonic()
    process = start("sleep 971.1 & echo done")
    await process.wait()
    left = await process.finish()
    assert time.monotonic() - began < 2
    assert [stray.name for stray in left] == ["sleep"]
    assert process.output.shown(100).text == "done\n"
    assert not live("sleep 971.1")


async def test_a_slow_last_word_is_still_heard(start) -> None:
    process = start("(sleep 0.05; echo late) & echo now")
    await process.wait()
    assert await process.finish() == ()
    assert process.output.shown(100).text == "now\nlate\n"


async def test_what_ignores_term_is_killed_after_two_seconds(start) -> None:
    process = start("trap '' TERM; echo ready; while :; do sleep 0.1; done; : 972.2")
    await until(lambda: "ready" in process.output.fresh())
    began = time.monotonic()
    await process.end()
    assert 1.9 <= time.monotonic() - began <= 2.5
    assert process.code == 137
    assert not mentioned("972.2")


async def test_a_stopped_child_is_ended_too(start) -> None:
    process = start("sleep 972.3 & kill -STOP $!; echo ready; wait")
    await until(lambda: "ready" in process.output.fresh())
    await process.end()
    assert not live("sleep 972.3")


@on_linux
@pytest.mark.parametrize(
    "escape",
    [
        "setsid NAP.3 & wait",
        "setsid bash -c 'setsid NAP.3 & exec NAP.4' & wait",
        "(setsid NAP.3 &) ; sleep 60",
        "env -i setsid NAP.3 & wait",
        "setsid bash -c 'trap \"\" TERM; (exec NAP.3); while :; do sleep 0.05; done' & wait",
    ],
)
async def test_no_escape_from_the_end(start, nap: str, escape: str) -> None:
    process = start(escape.replace("NAP", nap))
    await until(lambda: live(f"{nap}.3"))
    began = time.monotonic()
    await process.end()
    assert time.monotonic() - began <= 2.5
    assert not mentioned(nap)


async def test_a_second_cancel_kills_at_once(start) -> None:
    process = start("trap '' TERM; echo ready; while :; do sleep 0.1; done; : 974.4")
    await until(lambda: "ready" in process.output.fresh())
    ending = asyncio.create_task(process.end())
    await asyncio.sleep(0)  # let it begin
    began = time.monotonic()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    await until(lambda: not mentioned("974.4"), 1)
    assert time.monotonic() - began < 1
    assert await process.wait(1)


RUNAWAYS = {
    "one that forks and is gone": "trap '' TERM; r() { [ $1 -gt 4000 ] || (r $(($1 + 1))) & }; r 0",
    "many that fork again": "trap '' TERM; h() { for _ in {1..200}; do sleep 0.05 & wait; done; }; "
    "for _ in {1..40}; do h & done; wait",
    "with sessions of their own": "echo 'sleep 0.05; [ $1 -gt 150 ] || exec setsid -f bash $0 $(($1 + 1))' >r.sh; "
    "for _ in {1..8}; do setsid -f bash r.sh 0; done; sleep 30",
}
"""Fork bombs that end by themselves after seconds, should nobody end them."""


WALLED = [False, pytest.param(True, marks=pytest.mark.skipif(not find(), reason="no bubblewrap"))]


@on_linux
@pytest.mark.parametrize("walled", WALLED)
@pytest.mark.parametrize("bomb", RUNAWAYS.values(), ids=RUNAWAYS)
async def test_what_forks_faster_than_one_can_look_is_ended(
    jobs: Jobs, tmp_path: Path, bomb: str, walled: bool
) -> None:
    """And the agent goes on meanwhile."""
    mine = Jobs(jobs.session, SystemClock(), Sandbox([tmp_path], tmp_path / "home") if walled else None)

    def start(command: str) -> ShellProcess:
        return mine.run(command, tmp_path, ENV, tmp_path / "spill")

    process = start(bomb)
    await process.wait(0.5)
    loop = asyncio.get_running_loop()
    gaps: list[float] = []

    async def beat() -> None:
        before = loop.time()
        while True:
            await asyncio.sleep(0.01)
            gaps.append(loop.time() - before)
            before = loop.time()

    heart = asyncio.create_task(beat())
    await process.end()
    heart.cancel()
    for _ in range(20):  # one look may miss what forks on
        assert strays.belonging(process.cookie, process.pid) == ()
        await asyncio.sleep(0.005)
    assert max(gaps, default=0) < 1
    again = start("echo alive")
    await again.wait()
    await again.finish()
    assert again.output.fresh() == "alive\n"
    await mine.close()


@on_linux
@pytest.mark.parametrize("walled", WALLED)
async def test_how_many_tasks_a_command_may_have_is_bounded(jobs: Jobs, tmp_path: Path, walled: bool) -> None:
    sandbox = Sandbox([tmp_path], tmp_path / "home") if walled else None
    mine = Jobs(jobs.session, SystemClock(), sandbox)
    process = mine.run("ulimit -Hu; ulimit -Su", tmp_path, ENV, tmp_path / "spill")
    await process.wait()
    await process.finish()
    hard, soft = map(int, process.output.fresh().split())
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    assert hard == soft <= running + 4096 + 500  # others start and end meanwhile
    await mine.close()


ANOTHER = "setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs"


@on_linux
@pytest.mark.skipif(os.geteuid() != 0 or not which("setpriv"), reason="takes another user: root is not limited")
async def test_a_fork_bomb_of_an_ordinary_user_is_bounded_and_ended(start) -> None:
    """A real one. The kernel counts this user's tasks, of which there are few: 60 are enough to see where it ends."""
    process = start(f"ulimit -u 60; exec {ANOTHER} bash -c ':(){{ :|:& }};:; sleep 60' 2>/dev/null")
    most = 0
    for _ in range(10):
        await process.wait(0.1)
        most = max(most, len(strays.belonging(process.cookie, process.pid)))
    await process.end()
    assert 10 < most <= 62
    assert strays.belonging(process.cookie) == ()
    assert not process.running


async def test_other_calls_are_left_alone(jobs: Jobs, start) -> None:
    calls = [start(f"sleep 975.{n}") for n in range(12)]  # call 1 must not take 10 and 11 with it
    await until(lambda: live("sleep 975.11"))
    await calls[0].end()
    assert [n for n in range(12) if live(f"sleep 975.{n}")] == list(range(1, 12))
    await asyncio.gather(*(call.end() for call in calls))


async def test_closing_the_session_ends_jobs_and_daemons(tmp_path: Path) -> None:
    jobs = Jobs(f"closing-{tmp_path.name}", SystemClock())
    job = jobs.start("sleep 976.1", tmp_path, ENV, tmp_path / "spill")
    daemon = jobs.run("setsid sleep 976.2 > /dev/null 2>&1 &", tmp_path, ENV, tmp_path / "spill")
    await daemon.wait()
    await daemon.finish()
    await until(lambda: live("sleep 976.1") and live("sleep 976.2"))
    await jobs.close()
    assert not mentioned("sleep 976.")
    assert job.code == 143
    assert job.stopped


async def test_a_job_that_ends_by_itself_is_known(jobs: Jobs, tmp_path: Path) -> None:
    job = jobs.start("echo out; sleep 977.7 & exit 5", tmp_path, ENV, tmp_path / "spill")
    await job.over
    assert job.code == 5
    assert job.file.read_text() == "out\n"
    assert not job.stopped
    assert not live("sleep 977.7")
    assert jobs.list() == (job,)


AGENT = """
import asyncio, os, sys
from pathlib import Path
from codeagent.host.clock import SystemClock
from codeagent.host.jobs import Jobs
async def main():
    here = Path(sys.argv[1])
    job = Jobs("agent", SystemClock()).start("$NAP.1 & setsid $NAP.2 & wait", here, dict(os.environ), here)
    await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


@pytest.fixture
async def agent(tmp_path: Path, nap: str) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A program with a job, one part of which has a session of its own; it stops when its stdin is closed."""
    command = [sys.executable, "-c", AGENT, str(tmp_path)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, env={**ENV, "NAP": nap}, stdin=subprocess.PIPE) as agent:
        await until(lambda: live(f"{nap}.1") and live(f"{nap}.2"))
        yield agent
        agent.kill()


@on_linux
async def test_a_program_that_forgets_to_close_still_leaves_nothing(agent: subprocess.Popen[bytes], nap: str) -> None:
    agent.communicate()
    assert agent.returncode == 0
    assert not mentioned(nap)


@on_linux
async def test_after_a_crash_the_orphans_are_swept(agent: subprocess.Popen[bytes], nap: str, start) -> None:
    mine = start(f"{nap}.3")
    await until(lambda: live(f"{nap}.3"))
    ours = {stray.pid for stray in strays.belonging(f"agent.{agent.pid}.")}
    assert len(ours) == 3
    assert not ours & {stray.pid for stray in strays.orphaned()}
    agent.kill()
    agent.wait()
    assert ours <= {stray.pid for stray in await strays.sweep_orphans()}
    assert not live(f"{nap}.1")
    assert not live(f"{nap}.2")
    assert live(f"{nap}.3")
    await mine.end()


@on_linux
async def test_no_descriptor_is_left_open(start) -> None:
    async def used(command: str) -> int:
        process = start(command)
        await text(process)
        return len(os.listdir("/proc/self/fd"))

    before = await used("echo")
    assert [await used("seq 1 100000"), await used("sleep 60 &"), await used("cd nowhere")] == [before] * 3


@on_linux
async def test_a_shell_that_cannot_start_is_an_oserror_and_leaks_nothing(start, tmp_path: Path, jobs: Jobs) -> None:
    assert await text(start("echo first")) == "first\n"
    before = os.listdir("/proc/self/fd")
    for begin in (jobs.run, jobs.start):
        with pytest.raises(FileNotFoundError):
            begin("echo", tmp_path / "gone", ENV, tmp_path / "spill")
    assert os.listdir("/proc/self/fd") == before
    assert await text(start("echo still here")) == "still here\n"


async def test_parallel_calls_run_side_by_side(start) -> None:
    began = time.monotonic()
    await asyncio.gather(*(text(start("sleep 0.5")) for _ in range(8)))
    assert time.monotonic() - began < 0.9


@pytest.mark.bench
async def test_starting_is_cheap(start) -> None:
    plain = [_seconds(["bash", "--noprofile", "--norc", "-c", "echo"]) for _ in range(50)]
    began = time.monotonic()
    for _ in range(50):
        await text(start("echo"))
    each = (time.monotonic() - began) / 50
    assert each - sorted(plain)[25] < 0.005


@pytest.mark.bench
async def test_a_gigabyte_passes_quickly(start) -> None:
    began = time.monotonic()
    process = start("head -c 1000000000 /dev/zero")
    await text(process)
    assert process.output.total == 1_000_000_000
    assert time.monotonic() - began < 5


def _seconds(command: list[str]) -> float:
    began = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.monotonic() - began


def test_signals_have_names() -> None:
    assert signal_of(137) == "SIGKILL"
    assert signal_of(1) == ""
    assert signal_of(255) == ""
