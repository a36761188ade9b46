"""`codeagent sessions` on logs that the real program wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeagent.core.errors import SessionError, UsageFault
from codeagent.flags import Mistake
from codeagent.sessions.store import Log
from codeagent.subcommands import sessions


@pytest.fixture
def kept(program_env: Mapping[str, str], project: Path) -> Path:
    """A project in which one session was held."""
    (project / "README.md").write_text("# A shop\n")
    argv = ["-p", "read README.md", "--model", "offline", "--session-id", "first", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "codeagent", *argv],
        env=dict(program_env),
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return project


def told(capsys: pytest.CaptureFixture[str], env: Mapping[str, str], project: Path, *argv: str) -> str:
    assert sessions.run([*argv, "--cwd", str(project)], env) == 0
    return capsys.readouterr().out


def test_list_show_search(capsys: pytest.CaptureFixture[str], program_env: Mapping[str, str], kept: Path) -> None:
    assert "No sessions" in told(capsys, program_env, kept)
    assert told(capsys, program_env, kept, "list", "--all").startswith(
        "first  read README.md  (just now, 1 turn, $0.00"
    )
    assert json.loads(told(capsys, program_env, kept, "list", "--json"))[0]["id"] == "first"
    assert "you: read README.md\n" in told(capsys, program_env, kept, "show", "fir")
    assert json.loads(told(capsys, program_env, kept, "show", "first", "--json"))[0]["kind"] == "opened"
    assert "first  just now, user said: read README.md" in told(capsys, program_env, kept, "search", "readme.md")
    assert json.loads(told(capsys, program_env, kept, "search", "A shop", "--json"))[0]["session"] == "first"
    assert told(capsys, program_env, kept, "search", "nowhere to be found") == "Nothing found.\n"


def test_export(capsys: pytest.CaptureFixture[str], program_env: Mapping[str, str], kept: Path, tmp_path: Path) -> None:
    text = told(capsys, program_env, kept, "export", "first")
    assert text.startswith("# read README.md\n\n## You\n")
    told(capsys, program_env, kept, "export", "first", str(tmp_path / "talk.md"))
    assert (tmp_path / "talk.md").read_text() == text
    with pytest.raises(Mistake, match="exists already"):
        sessions.run(["export", "first", str(tmp_path / "talk.md"), "--cwd", str(kept)], program_env)


def test_rename(capsys: pytest.CaptureFixture[str], program_env: Mapping[str, str], kept: Path) -> None:
    told(capsys, program_env, kept, "rename", "first", "the", "shop")
    assert "first  the shop" in told(capsys, program_env, kept, "list", "--all")
    assert "you: read README.md" in told(capsys, program_env, kept, "show", "The Shop")


def test_delete_asks_for_yes_and_leaves_open_sessions_alone(
    capsys: pytest.CaptureFixture[str], program_env: Mapping[str, str], kept: Path
) -> None:
    log = kept / ".agent/sessions/first.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "codeagent", "sessions", "delete", "first"],
        env=dict(program_env),
        cwd=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"add --yes" in done.stderr
    held, _ = Log.open(log, lambda: 0.0)
    with pytest.raises(SessionError):
        sessions.run(["delete", "first", "--yes", "--cwd", str(kept)], program_env)
    held.close()
    spill = log.with_suffix("") / "deep"
    spill.mkdir(parents=True)
    (spill / "output.txt").write_text("long")
    told(capsys, program_env, kept, "delete", "first", "--yes")
    assert not log.exists()
    assert not log.with_suffix("").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["shwo", "x"], "Did you mean show?"),
        (["show"], "codeagent sessions show ID"),
        (["list", "x"], "codeagent sessions list"),
        (["rename", "x"], "codeagent sessions rename ID NAME"),
        (["--cwd", "/no/such"], "There is no directory"),
    ],
)
def test_mistakes(argv: list[str], words: str, program_env: Mapping[str, str]) -> None:
    with pytest.raises(Mistake) as fault:
        sessions.run(argv, program_env)
    assert words in str(fault.value)


def test_an_unknown_session(program_env: Mapping[str, str], kept: Path) -> None:
    with pytest.raises(UsageFault, match="There is no session"):
        sessions.run(["show", "second", "--cwd", str(kept)], program_env)
