"""What the ground under the program can do: disks that fill up, files without measure, places that refuse."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import CART, Open
from tests.e2e.program import COMMAND, said, until
from tests.loopback import Loopback, call, say

HUGE = 100 << 20


def small_disk(limit: int) -> None:
    """No file may grow beyond so many bytes, as on a full disk: a write is short, and the next one fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def test_a_full_disk_is_told_once_and_the_work_goes_on(program: Open, shop: Path) -> None:
    long = "word " * 4000
    edit = call("edit", file_path="cart.py", old_string="discount / 100", new_string="(100 - discount) / 100")
    with Loopback(
        [say(long) + call("read", file_path="cart.py"), say(long) + edit, say(long + "Done."), say("Again.")]
    ) as server:
        made = program(server)
        command = [*COMMAND, "-p", "go", "--output-format", "stream-json", "--permission-mode", "acceptEdits"]
        done = subprocess.run(
            command,
            env=made.env,
            cwd=shop,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            preexec_fn=lambda: small_disk(50_000),
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        whole = made.logs[0].read_bytes()
        again = made.headless("more", "-c")
    assert done.returncode == 0, done.stderr
    assert lines[-1]["result"].endswith("Done.")
    told = [line for line in lines if "cannot be written" in line.get("content", "")]
    assert len(told) == 1, "said once"
    assert str(made.logs[0]) in told[0]["content"] or made.logs[0].stem in told[0]["content"]
    assert whole.endswith(b"}\n"), "no torn line is left"
    assert (shop / "cart.py").read_text() != CART
    assert again.code == 0, again.err
    assert "go" in said(server.bodies[-1])
    assert not any(seen.problems for seen in server.requests)


def test_a_log_directory_that_refuses_is_told_and_another_is_taken(program: Open, shop: Path, home: Path) -> None:
    if not shutil.which("bwrap"):
        pytest.skip("bwrap, which takes the right to write from root too, is not here")
    (shop / ".agent/sessions").mkdir(parents=True)
    with Loopback([say("Hello.")]) as server:
        made = program(server)
        locked = str(shop / ".agent/sessions")
        done = subprocess.run(
            ["bwrap", "--dev-bind", "/", "/", "--ro-bind", locked, locked, *COMMAND, "-p", "go"],
            env=made.env,
            cwd=shop,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    if "Operation not permitted" in done.stderr:
        pytest.skip("bwrap may not make namespaces here")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert "sessions are kept in" in done.stderr
    assert len(list((home / ".local/state/codeagent").rglob("*.jsonl"))) == 1


@pytest.mark.parametrize("name", [".agent", ".agent/sessions"])
def test_a_file_where_the_logs_would_lie_is_left_and_told(name: str, program: Open, shop: Path, home: Path) -> None:
    (shop / name).parent.mkdir(exist_ok=True)
    (shop / name).write_text("not ours")
    with Loopback([call("write", file_path="new.txt", content="x"), say("Hello.")]) as server:
        ran = program(server).run("-p", "go", "--permission-mode", "acceptEdits")
    assert (ran.code, ran.out) == (0, "Hello.\n"), ran.err
    assert "sessions are kept in" in ran.err
    assert (shop / name).read_text() == "not ours"
    assert len(list((home / ".local/state/codeagent").rglob("*.jsonl"))) == 1


@pytest.mark.parametrize(
    "name",
    [
        "project/.agent/settings.json",
        "project/.agent/memory/MEMORY.md",
        "project/CLAUDE.md",
        "home/.config/codeagent/settings.json",
        "home/.local/state/codeagent/trusted.json",
    ],
)
@pytest.mark.parametrize("kind", ["huge", "fifo"])
def test_files_of_ours_without_measure(kind: str, name: str, program: Open, shop: Path) -> None:
    path = shop.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "huge":
        path.touch()
        os.truncate(path, HUGE)
    else:
        os.mkfifo(path)
    with Loopback([say("Hello.")]) as server:
        made = program(server)
        began = time.monotonic()
        ran = made.run("-p", "go", "--output-format", "stream-json")
        took = time.monotonic() - began
    assert ran.code in (0, 2), ran.err
    assert took < 15
    if "trusted" not in name:
        assert path.name in ran.err + ran.out, "the file is named"
    assert kind == "fifo" or path.stat().st_size == HUGE, "never overwritten"


STRANGER = 54_321
"""A user id that nobody has: a limit on its processes hurts nobody else."""


def as_stranger(command: list[str]) -> list[str]:
    """The command run by that user; a home that hides the interpreter is replaced by an empty one around it."""
    home = Path.home()
    inside = Path(sys.base_prefix)
    bare = ["--tmpfs", str(home), "--ro-bind", str(inside), str(inside)] if inside.is_relative_to(home) else []
    user = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    return ["bwrap", "--dev-bind", "/", "/", *bare, "--cap-add", "ALL", *user, *command]


def living(user: int) -> list[str]:
    """Processes of a user that are not only waiting to be reaped."""
    ask = ["ps", "-u", str(user), "-o", "stat=,args="]
    told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
    return [line for line in told.splitlines() if not line.startswith("Z")]


@pytest.mark.slow
def test_a_fork_bomb_is_ended_and_the_program_lives(program: Open, shop: Path) -> None:
    if os.getuid() or not (shutil.which("setpriv") and shutil.which("bwrap")):
        pytest.skip("only root, with bwrap and setpriv, can lend another user")
    for path in (shop.parent, *shop.parent.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    for above in shop.parents:
        above.chmod(above.stat().st_mode | 0o055)
    bomb = call("bash", command="bomb() { bomb | bomb & }; bomb; wait", timeout=3)
    with Loopback([bomb, say("It is over.")]) as server:
        done = subprocess.run(
            ["prlimit", "--nproc=150", *as_stranger([*COMMAND, "-p", "go", "--permission-mode", "bypass"])],
            env=program(server).env,
            cwd=shop,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "It is over." in done.stdout
    until(lambda: not living(STRANGER), "no process of the bomb lives", seconds=5)
