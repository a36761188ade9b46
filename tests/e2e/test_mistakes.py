"""What people get wrong before anything runs: one clear message, and the exit code that belongs to it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND
from tests.loopback import Loopback, call, say


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "go", "--settings", "no-such.json"], ["no-such.json", "JSON"]),
        (["-p", "go", "--settings", "{broken"], ["--settings", "not valid JSON"]),
        (["-p", "go", "--cwd", "no/such/place"], ["no directory no/such/place"]),
        (["-p", "go", "--add-dir", "no/such/place"], ["no/such/place"]),
        (["-p", "go", "-r", "no-such-session"], ["no-such-session"]),
        (["-p", "go", "-c"], ["no session", "codeagent"]),
        (["-p", "go", "--permision-mode", "plan"], ["--permision-mode", "--permission-mode"]),
        (["-p", "go", "--permission-mode", "brave"], ["brave", "acceptEdits"]),
        (["-p", "go", "--max-turns", "none"], ["--max-turns", "none"]),
        (["-p", "go", "--tools", "read,teleport"], ["teleport", "bash"]),
        (["-p"], ["prompt"]),
        (["sesions"], ["sesions", "sessions"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value[0].startswith("-") else "",
)
def test_a_mistake_is_told_in_a_line(arguments: list[str], words: list[str], program: Open) -> None:
    with Loopback() as server:
        ran = program(server).run(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert ran.err.startswith("codeagent: ")
    assert len(ran.err.splitlines()) == 1, ran.err
    for word in words:
        assert word in ran.err
    assert not server.requests


def test_settings_that_cannot_be_read_are_exit_2_in_json_too(program: Open) -> None:
    with Loopback() as server:
        ran = program(server).headless("go", "--settings", "no-such.json")
    assert ran.code == 2
    assert ran.result["is_error"]
    assert "no-such.json" in ran.result["errors"][0]


@pytest.mark.parametrize("content", ["{broken", "[]", '{"permissions": {"allow": "bash"}}', "\x00\xff"])
def test_a_broken_settings_file_is_named_and_the_rest_is_strict(content: str, program: Open, home: Path) -> None:
    folder = home / ".config/codeagent"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(content, encoding="latin-1")
    with Loopback([say("Hello.")]) as server:
        ran = program(server).run("-p", "go")
    assert ran.code in (0, 2)
    assert "settings.json" in ran.err
    assert (folder / "settings.json").read_text(encoding="latin-1") == content


def test_a_prompt_over_10_megabytes_is_refused(program: Open) -> None:
    with Loopback() as server:
        ran = program(server).run("-p", stdin=b"x" * (10 * 1024 * 1024 + 1))
    assert ran.code == 2
    assert "10 MB" in ran.err
    assert not server.requests


def test_a_project_that_cannot_be_written_can_be_read(program: Open, shop: Path, home: Path) -> None:
    if not shutil.which("bwrap"):
        pytest.skip("bwrap, which makes a project read-only also for root, is not here")
    with Loopback(
        [call("read", file_path="cart.py"), call("write", file_path="new.py", content="x"), say("Ok.")]
    ) as server:
        made = program(server)
        arguments = ["-p", "go", "--permission-mode", "acceptEdits", "--output-format", "json"]
        bind = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(shop), str(shop)]
        done = subprocess.run(
            [*bind, *COMMAND, *arguments],
            env=made.env,
            cwd=shop,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        if "Operation not permitted" in done.stderr:
            pytest.skip("bwrap may not make namespaces here")
    assert done.returncode == 0, done.stderr
    told = str(server.bodies[-1]["messages"])
    assert "The cart." in told
    assert "read-only" in told.lower() or "read only" in told.lower(), told
    assert not (shop / ".agent").exists()
    kept = list((home / ".local/state/codeagent").rglob("*.jsonl"))
    assert len(kept) == 1
    assert oct(kept[0].stat().st_mode)[-3:] == "600"
    assert os.listdir(shop) != []


def test_help_and_version_need_nothing(program: Open) -> None:
    ran = program().run("--help")
    assert ran.code == 0
    assert "exit codes" in ran.out
    for code in ("129, 130, 141, 143", "4  finished"):
        assert code in ran.out
    assert program().run("--version").out.startswith("codeagent ")


@pytest.mark.parametrize(
    "command", ["sessions", "audit", "replay x", "-p go", "--plain", "doctor", "config", "inspect"]
)
def test_a_directory_that_is_gone_is_told(command: str, program: Open, shop: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m codeagent {command}'
    done = subprocess.run(
        ["sh", "-c", script, COMMAND[0]], cwd=shop, env=program().env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "The current directory is gone." in done.stderr


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("claude-haiku-4-5", "Haiku 4.5 has no levels of effort"),
        ("claude-sonnet-4-6", "only low"),
        ("claude-opus-5", ""),
    ],
)
def test_effort_that_a_model_has_not_is_told(model: str, words: str, program: Open) -> None:
    with Loopback([say("Hello.")]) as server:
        ran = program(server).run("-p", "go", "--model", model, "--effort", "xhigh")
    assert (ran.code, ran.out.strip()) == (0, "Hello.")
    assert words in ran.err
    assert ("effort" in ran.err) == bool(words)


def test_a_resumed_session_takes_another_effort(program: Open) -> None:
    with Loopback([say("One."), say("Two."), say("Three.")]) as server:
        made = program(server)
        for more in (["--effort", "low"], ["-c", "--effort", "high"], ["-c"]):
            assert made.run("-p", "go", "--model", "claude-opus-4-8", *more).code == 0
    assert [each.body["output_config"]["effort"] for each in server.requests] == ["low", "high", "high"]
