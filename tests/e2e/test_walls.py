"""The sandbox on the real program: what is denied comes back as such, and nothing is left running."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path

import pytest

from codeagent.host.sandbox import find
from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND, results, until
from tests.loopback import Loopback, call, say

pytestmark = pytest.mark.skipif(not find(), reason="no bubblewrap")
AUTO = {"CODEAGENT_SANDBOX": "auto"}
BYPASS = ("--permission-mode", "bypass")


def test_a_denied_write_is_told_and_can_be_asked_for(program: Open, shop: Path, tmp_path: Path) -> None:
    target = tmp_path / "beside" / "made"
    target.parent.mkdir()
    replies = [
        call("bash", command=f"echo x > {target.parent.parent}/home/made"),
        call("bash", command=f"touch {target}; echo x > /etc/codeagent-made"),
        call("bash", command=f"touch {target}", outside=True),
        say("Done."),
    ]
    with Loopback(replies) as server:
        done = program(server, **AUTO).headless("go", *BYPASS)
        answers = results(server.bodies[-1])
    assert done.code == 0, done.err
    assert "outside: true" in answers[1][0]
    assert not Path("/etc/codeagent-made").exists()
    assert target.exists(), "the mode lets it pass: nobody is asked in bypass"


def test_outside_is_asked_and_named_even_for_what_only_reads(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="ls", outside=True), call("bash", command="ls"), say("Done.")]) as server:
        made = program(server, **AUTO)
        done = made.headless("go")
        answers = results(server.bodies[-1])
    assert done.code == 4, done.err
    assert [is_error for _, is_error in answers] == [True, False]
    assert "outside the sandbox" in answers[0][0]


def test_without_a_sandbox_outside_means_nothing(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="ls", outside=True), say("Done.")]) as server:
        assert program(server).headless("go").code == 0


def test_directory_protected_places_and_commits(program: Open, shop: Path) -> None:
    commit = "git add -A && git -c user.name=n -c user.email=e@e commit -qm one && git log --oneline | wc -l"
    replies = [
        call("bash", command="git init -q . && mkdir sub && cd sub && pwd"),
        call("bash", command="pwd; echo evil > ../.agent/settings.local.json"),
        call("bash", command=f"cd .. && {commit}"),
        call("bash", command="echo evil > .git/hooks/pre-commit"),
        say("Done."),
    ]
    with Loopback(replies) as server:
        done = program(server, **AUTO).headless("go", *BYPASS)
        answers = results(server.bodies[-1])
    assert done.code == 0, done.err
    assert f"{shop}/sub" in answers[1][0]
    assert "Read-only file system" in answers[1][0]
    assert not (shop / ".agent/settings.local.json").exists()
    assert answers[2] == ("1", False)
    assert answers[3][1]


def test_a_command_plants_nothing_that_starts_programs(program: Open, shop: Path) -> None:
    hook = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch sprung"}]}]}}'
    plant = f"mkdir .claude .vscode; echo '{hook}' > .claude/settings.json; touch .mcp.json; echo planted"
    replies = [
        call("bash", command=plant),
        call("bash", command="touch .mcp.json", run_in_background=True),
        call("bash", job="job1", timeout=10),
        say("Done."),
    ]
    with Loopback(replies) as server:
        made = program(server, **AUTO)
        done = made.headless("go", *BYPASS)
        first, _, job = results(server.bodies[-1])
    assert done.code == 0, done.err
    assert "planted" in first[0]
    assert "kept out .claude, .mcp.json, .vscode" in first[0]
    assert "outside: true" in first[0]
    assert sorted(path.name for path in shop.iterdir() if path.name.endswith(".kept-out")) == [
        ".claude.kept-out",
        ".mcp.json.kept-out",
        ".vscode.kept-out",
    ]
    assert not (shop / ".claude").exists()
    assert ".mcp.json came into being" in job[0]


def test_nothing_is_left_of_a_run_that_is_ended(program: Open, shop: Path) -> None:
    nap = f"sleep 8{zlib.crc32(str(shop).encode())}"
    tree = f"{nap} & setsid {nap} & trap '' TERM; touch started; {nap}"
    with Loopback([call("bash", command=tree), say("Never.")]) as server:
        with program(server, **AUTO).start("-p", "go", *BYPASS) as running:
            until(lambda: (shop / "started").exists(), "the command")
            running.process.terminate()
            assert running.ended().code == 143
        until(lambda: nap not in _commands(), "the end of its children")


def test_nothing_is_left_when_it_is_killed(program: Open, shop: Path) -> None:
    nap = f"sleep 7{zlib.crc32(str(shop).encode())}"
    with Loopback([call("bash", command=f"setsid {nap} & touch started; {nap}"), say("Never.")]) as server:
        with program(server, **AUTO).start("-p", "go", *BYPASS) as running:
            until(lambda: (shop / "started").exists(), "the command")
            running.process.kill()
        until(lambda: nap not in _commands(), "the end of its children, without a second start")


def test_a_sandbox_that_is_required(program: Open, shop: Path) -> None:
    with Loopback([say("Here.")]) as server:
        assert program(server, **AUTO).run("-p", "go", "--require-sandbox").code == 0


def test_where_it_does_not_work_a_required_one_ends_the_run(program: Open, shop: Path) -> None:
    """In a world without bubblewrap: `auto` goes on, and says so to who asks; what is required is not given up."""
    made = program(**AUTO)
    world = [find(), "--dev-bind", "/", "/", "--ro-bind", "/dev/null", str(Path(find()).resolve()), "--"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [*world, *COMMAND, *words]
        return subprocess.run(argv, env=made.env, cwd=shop, capture_output=True, text=True, timeout=20, check=False)

    done = run("-p", "go", "--model", "offline", "--require-sandbox")
    assert done.returncode == 2
    assert "bubblewrap is not installed" in done.stderr
    assert run("-p", "hello", "--model", "offline").returncode == 0
    assert "commands run without one" in run("doctor").stdout


def test_a_project_cannot_switch_it_off(program: Open, shop: Path) -> None:
    (shop / ".agent").mkdir()
    (shop / ".agent/settings.json").write_text('{"sandbox": "off"}')
    with Loopback([call("bash", command="echo x > /etc/codeagent-made"), say("Tried.")]) as server:
        made = program(server)
        del made.env["CODEAGENT_SANDBOX"]  # type: ignore[attr-defined]  # a dict, as it was made
        done = made.run("-p", "go", "--trust", *BYPASS)
    assert "a project cannot set this" in done.err
    assert not Path("/etc/codeagent-made").exists()


def _commands() -> str:
    return subprocess.run(["ps", "-axww", "-o", "command="], capture_output=True, text=True, check=True).stdout
