"""The bash tool: what it plans, what it tells, where it stands, what it keeps running."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
from bash_session import Session, prompt_bytes, running, text_of, until

from codeagent.core.effects import Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.views import Shell
from codeagent.tools.bash import Bash, BashInput


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    (tmp_path / "project").mkdir()
    (tmp_path / "more").mkdir()
    session = Session(tmp_path / "project", dict(os.environ), extra=(tmp_path / "more",))
    yield session
    await session.jobs.close()


# --- plan


async def test_the_plan_shows_the_line_and_its_highest_risk(session: Session) -> None:
    effect = await session.bash.plan(BashInput(command="echo a\n"))
    assert (effect.title, effect.label, effect.risk) == ("Run echo a", "echo a", Risk.LOW)
    assert effect.view == Shell("echo a\n", str(session.root))
    assert (effect.cwd, effect.touches, effect.free) == (str(session.root), (), False)
    assert effect.shell
    assert (await session.bash.plan(BashInput(command="echo a; b > c"))).risk is Risk.HIGH
    assert (await session.bash.plan(BashInput(command="echo 'a"))).risk is Risk.HIGH
    assert (await session.bash.plan(BashInput(command="a\x1b[2J\nb"))).title == "Run a\\x1b[2J⏎b"


async def test_planning_runs_nothing(session: Session) -> None:
    await session.bash.plan(BashInput(command="touch made", run_in_background=True))
    assert not list(session.root.iterdir())


async def test_a_directory_outside_is_a_touch(session: Session) -> None:
    (touch,) = (await session.bash.plan(BashInput(command="ls", cwd="/usr"))).touches
    assert (touch.path, touch.place, touch.named) == ("/usr", "outside", "/usr")
    assert not (await session.bash.plan(BashInput(command="ls", cwd=str(session.root.parent / "more")))).touches
    with pytest.raises(ToolFault, match="nowhere is not a directory"):
        await session.bash.plan(BashInput(command="ls", cwd="nowhere"))


def test_its_share_of_the_prompt_is_small() -> None:
    assert prompt_bytes(Bash) < 1500


# --- results


@pytest.mark.parametrize(
    ("command", "code", "failed"),
    [
        ("true", 0, False),
        ("false", 1, True),
        ("grep nothing /dev/null", 1, False),
        ("grep nothing /nowhere", 2, True),
        ("diff /dev/null start.txt", 1, False),
        ("test -e nowhere", 1, False),
        ("git diff --no-index --quiet /dev/null start.txt", 1, False),
        ("echo a && grep b /dev/null", 1, False),
        ("grep b /dev/null; false", 1, True),
        ('false "$(grep b /dev/null)"', 1, True),
        ("grep b < /dev/null", 1, False),
    ],
)
async def test_which_exit_codes_are_failures(session: Session, command: str, code: int, failed: bool) -> None:
    (session.root / "start.txt").write_text("text\n")
    result = await session.run(command)
    assert isinstance(result.view, Shell)
    assert (result.view.exit_code, result.is_error) == (code, failed)
    assert text_of(result).endswith(f"[exit code {code}]") is (code != 0)
    assert result.summary.startswith(f"exit {code}  " if code else "0.")


async def test_signal_and_left_over_are_named(session: Session) -> None:
    assert text_of(await session.run("kill -SEGV $$")) == "(no output)\n[exit code 139, signal SIGSEGV]"
    told = text_of(await session.run("sleep 961.1 & echo started"))
    assert told.startswith("started\n[ended what the command left running: sleep (")
    assert not running("sleep 961.1")


async def test_progress_comes_while_it_runs_and_not_too_often(session: Session) -> None:
    result = await session.run("for i in $(seq 60); do echo line $i; sleep 0.01; done")
    times = [when for when, _ in session.progress]
    assert len(times) >= 3
    assert all(later - earlier >= 0.095 for earlier, later in pairwise(times))
    assert (text_of(result) + "\n").startswith("".join(piece for _, piece in session.progress))


async def test_a_flood_keeps_the_loop_free(session: Session) -> None:
    call = asyncio.create_task(session.run("yes", timeout=1))
    worst, last = 0.0, time.monotonic()
    while not call.done():
        await asyncio.sleep(0.005)
        worst, last = max(worst, time.monotonic() - last), time.monotonic()
    assert worst < 0.25  # 0.02 on an idle machine
    result = await call
    assert result.timed_out
    assert len(text_of(result)) < 11_000
    assert all(len(piece) <= 8192 for _, piece in session.progress)


async def test_a_timeout_says_what_to_do(session: Session) -> None:
    result = await session.run("echo before; sleep 961.2", timeout=0.3)
    assert result.timed_out
    assert result.is_error
    assert result.summary.startswith("timed out")
    assert "before\n[timed out after 0.3 s" in text_of(result)
    assert not running("sleep 961.2")


async def test_leaving_the_generator_early_ends_the_command(session: Session) -> None:
    args = BashInput(command="while echo tick; do sleep 0.05; done; sleep 961.3")
    call = session.bash.run(args, Permit(await session.bash.plan(args)))
    await anext(call)
    await call.aclose()
    assert not running(f"bash --noprofile --norc -c -- {args.command}")


# --- where it stands


async def test_cd_lasts_inside_the_roots_only(session: Session) -> None:
    (session.root / "sub").mkdir()
    assert (await session.run("cd sub")).cwd == str(session.root / "sub")
    assert (await session.run("pwd")).cwd == ""
    outside = await session.run("cd /usr && pwd")
    assert text_of(outside).startswith("/usr\n[the shell ended in /usr, outside the project")
    assert outside.cwd == str(session.root)
    assert text_of(await session.run("pwd")) == str(session.root)
    assert (await session.run("cd ../more")).cwd == str(session.root.parent / "more")


async def test_a_link_that_leads_outside_is_outside(session: Session) -> None:
    (session.root / "way").symlink_to("/usr")
    assert "outside the project" in text_of(await session.run("cd way"))
    assert session.workspace.cwd == session.root


async def test_the_cwd_argument_is_for_one_call(session: Session) -> None:
    (session.root / "sub").mkdir()
    result = await session.run("pwd; cd /", cwd="sub")
    assert text_of(result) == str(session.root / "sub")
    assert text_of(await session.run("pwd")) == str(session.root)


async def test_a_deleted_directory_is_told_once(session: Session) -> None:
    await session.run("mkdir t && cd t && rm -rf ../t")
    assert "no longer exists" in text_of(await session.run("echo alive"))
    assert text_of(await session.run("echo alive")) == "alive"


async def test_a_directory_that_goes_between_plan_and_run_is_a_fault(session: Session) -> None:
    (session.root / "sub").mkdir()
    args = BashInput(command="pwd", cwd="sub")
    permit = Permit(await session.bash.plan(args))
    (session.root / "sub").rmdir()
    with pytest.raises(ToolFault, match="sub is gone"):
        await anext(session.bash.run(args, permit))


# --- background


async def test_a_job_is_started_read_and_stopped(session: Session) -> None:
    started = text_of(await session.run("echo up; sleep 962.1 & wait", run_in_background=True))
    assert started.startswith("job1 started in the background.")
    assert started.endswith("up\n[job1 runs]")
    assert text_of(await session.run(job="job1")) == "(no output)\n[job1 runs]"
    assert text_of(await session.run(job="job1", stop=True)) == "(no output)\n[job1 stopped]"
    assert not running("sleep 962.1")
    assert text_of(await session.run(job="job1", stop=True)) == "(no output)\n[job1 stopped]"


async def test_a_job_that_fails_at_once_says_so(session: Session) -> None:
    told = text_of(await session.run("echo port in use; exit 3", run_in_background=True))
    assert told.endswith("port in use\n[job1 ended: exit code 3]")


async def test_of_a_job_that_said_much_the_last_is_told_and_the_rest_is_named(session: Session) -> None:
    await session.run("sleep 0.4; seq 10000", run_in_background=True)
    told = text_of(await session.run(job="job1", timeout=10))
    assert told.startswith("[... 40,702 bytes before this: ")
    assert told.endswith("\n10000\n[job1 ended: exit code 0]")


async def test_reading_a_job_is_free_and_can_wait(session: Session) -> None:
    await session.run("sleep 0.5; echo ready", run_in_background=True)
    effect = await session.bash.plan(BashInput(job="job1"))
    assert (effect.free, effect.title) == (True, "Look at job1")
    assert text_of(await session.run(job="job1", timeout=10)) == "ready\n[job1 ended: exit code 0]"


async def test_an_unknown_job_names_those_there_are(session: Session) -> None:
    with pytest.raises(ToolFault, match="none was started"):
        await session.bash.plan(BashInput(job="job7"))


async def test_cancelling_a_wait_leaves_the_job_alone(session: Session) -> None:
    await session.run("sleep 962.2", run_in_background=True)
    waiting = asyncio.create_task(session.run(job="job1", timeout=60))
    await until(lambda: running("sleep 962.2"))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert session.jobs.list()[0].process.running


# --- what it has shown


@pytest.mark.parametrize(
    ("command", "sight"),
    [
        ("cat f.txt", (1, 3, True)),
        ("nl f.txt", (1, 3, True)),
        ("echo x; cat f.txt", (1, 3, True)),
        ("head -n 2 f.txt", (0, 0, False)),
        ("sed -n 1,2p f.txt", (0, 0, False)),
        ("grep -n b f.txt", (0, 0, False)),
        ("sed 1d f.txt", None),
        ("grep zzz f.txt", None),
        ("grep -nq b f.txt", None),
        ("grep --count b f.txt", None),
        ("head -n 0 f.txt", None),
        ("cat f.txt | head -1", None),
        ("cat f.txt > g.txt", None),
        ("cd . && cat f.txt", None),
        ("wc f.txt", None),
        ("cat nowhere", None),
    ],
)
async def test_a_command_that_showed_a_file_counts_as_reading(
    session: Session, command: str, sight: tuple[int, int, bool] | None
) -> None:
    (session.root / "f.txt").write_text("a\nb\nc")
    saw = (await session.run(command)).saw
    assert [(each.first, each.last, each.whole) for each in saw] == ([sight] if sight else [])
    assert all(each.digest == hashlib.sha256(b"a\nb\nc").hexdigest() for each in saw)


async def test_output_that_was_cut_is_no_whole_sight(session: Session) -> None:
    (session.root / "f.txt").write_text("line\n" * 10_000)
    (saw,) = (await session.run("cat f.txt")).saw
    assert not saw.whole
