"""The program from outside: what it prints, where, and with which exit code. It is run for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeagent import __version__, cli
from tests.loopback import KEY, Loopback, call, say


def program(*argv: str, env: Mapping[str, str], cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "codeagent", *argv],
        input=stdin,
        env=dict(env),
        cwd=cwd,
        capture_output=True,
        timeout=50,
        check=False,
    )


# --- the program ---


def test_version_and_help(program_env: Mapping[str, str], tmp_path: Path) -> None:
    for flag in ("--version", "-V", "-v"):
        assert program(flag, env=program_env, cwd=tmp_path).stdout == f"codeagent {__version__}\n".encode()
    done = program("--help", env=program_env, cwd=tmp_path)
    assert done.returncode == 0
    for words in (b"exit codes", b"examples", b"--max-turns", b"143"):
        assert words in done.stdout
    assert program("help", env=program_env, cwd=tmp_path).stdout == done.stdout
    shown = program("help", "sessions", env=program_env, cwd=tmp_path).stdout
    assert shown.startswith(b"usage: codeagent sessions")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--modle", "x"], b"Did you mean --model?"),
        (["sesions"], b"Did you mean: codeagent sessions?"),
        (["sesion", "list"], b"Did you mean: codeagent sessions list?"),
        (["confg", "--json"], b"Did you mean: codeagent config --json?"),
        (["permissions", "wy", "bash", "ls"], b"Did you mean why?"),
        (["memory", "serch", "x"], b"Did you mean search?"),
        (["trust", "yse"], b"codeagent trust cannot 'yse'"),
        (["demo", "a", "b"], b"One directory at a time"),
        (["--model", "offline", "sessions", "list"], b"It comes first: codeagent sessions list [flags]"),
        (["-p", "hi", "-r", "nothing", "--model", "offline"], b"There is no session 'nothing'"),
        (["-p", "hi", "-c", "--model", "offline"], b"no session"),
        (["-p", "--model", "offline"], b"no prompt was given"),
        (["-p", "hi", "--model", "offline", "--settings", "{"], b"--settings: not valid JSON"),
        (["-p", "hi", "--model", "offline", "--tools", "reed"], b"There is no tool reed"),
        (["sessions", "show"], b"codeagent sessions show ID"),
        (["sessions", "show", "x"], b"There is no session 'x'"),
        (["doctor", "--jsno"], b"Did you mean --json?"),
    ],
)
def test_usage_faults_are_one_line_on_stderr_and_exit_2(
    argv: list[str], words: bytes, program_env: Mapping[str, str], project: Path
) -> None:
    done = program(*argv, env=program_env, cwd=project)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"codeagent: ")
    assert done.stderr.count(b"\n") == 1
    assert words in done.stderr


def test_without_a_key_headless_says_how_to_set_one(program_env: Mapping[str, str], project: Path) -> None:
    done = program("-p", "hi", env=program_env, cwd=project)
    assert done.returncode == 5
    assert b"ANTHROPIC_API_KEY" in done.stderr


def test_the_plain_front_without_a_key_says_so_too(program_env: Mapping[str, str], project: Path) -> None:
    done = program("--plain", env=program_env, cwd=project)
    assert done.returncode == 5
    assert done.stderr.startswith(b"codeagent: ")


def test_a_real_connection_streams_its_own_events(program_env: Mapping[str, str], project: Path) -> None:
    with Loopback([call("read", file_path="README.md"), say("It is a shop.")]) as server:
        env = {**program_env, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        (project / "README.md").write_text("# A shop\n")
        argv = ["-p", "what is it?", "--output-format", "stream-json", "--include-partial-messages"]
        done = program(*argv, env=env, cwd=project)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert lines[-1]["result"] == "It is a shop."
    streamed = [line["event"] for line in lines if line["type"] == "stream_event"]
    assert [event["type"] for event in streamed].count("message_start") == 2
    assert streamed[0]["message"]["id"], "the provider's own event"


def test_a_wrong_key_is_exit_5_in_every_format(program_env: Mapping[str, str], project: Path) -> None:
    with Loopback([]) as server:
        env = {**program_env, "ANTHROPIC_API_KEY": "wrong", "ANTHROPIC_BASE_URL": server.url}
        for form in ("text", "json", "stream-json"):
            done = program("-p", "hi", "--output-format", form, env=env, cwd=project)
            assert done.returncode == 5
            assert b"key" in done.stderr
            if form == "text":
                assert done.stdout == b""
                continue
            result = json.loads(done.stdout.splitlines()[-1])
            assert result["subtype"] == "error_during_execution"
            assert result["api_error_status"] == 401
            assert "result" not in result


def test_a_run_leaves_a_session_that_can_be_listed_shown_and_gone_on_with(
    program_env: Mapping[str, str], project: Path
) -> None:
    (project / "README.md").write_text("# A shop\n")
    first = program("-p", "read README.md", "--model", "offline", env=program_env, cwd=project)
    assert first.returncode == 0
    assert b'[step 1] read(file_path="README.md")' in first.stderr
    [told] = json.loads(program("sessions", "list", "--json", env=program_env, cwd=project).stdout)
    assert told["title"] == "read README.md"
    shown = program("sessions", "show", told["id"][:-1], env=program_env, cwd=project).stdout
    assert b"you: read README.md" in shown
    assert b"read  README.md: 1 line" in shown
    more = program(
        "-p", "-c", "read README.md", "--model", "offline", "--output-format", "json", env=program_env, cwd=project
    )
    assert json.loads(more.stdout)["session_id"] == told["id"]
    everything = program("sessions", "--all", env=program_env, cwd=project).stdout
    assert everything.count(b"\n") == 1
    assert b"2 turns" in everything


def test_piped_text_alone_is_a_headless_run(program_env: Mapping[str, str], project: Path) -> None:
    done = program("--model", "offline", env=program_env, cwd=project, stdin=b"list **/*")
    assert done.returncode in (0, 1)
    assert b"[step 1]" in done.stderr


def test_what_cannot_be_allowed_ends_with_4(program_env: Mapping[str, str], project: Path) -> None:
    done = program("-p", "run touch made", "--model", "offline", env=program_env, cwd=project)
    assert done.returncode == 4
    assert not (project / "made").exists()
    allowed = program(
        "-p", "run touch made", "--model", "offline", "--allowedTools", "Bash(touch *)", env=program_env, cwd=project
    )
    assert allowed.returncode == 0
    assert (project / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_running_commands_and_the_result_still_comes(
    number: signal.Signals, program_env: Mapping[str, str], project: Path
) -> None:
    argv = ["-p", "run sleep 1717", "--model", "offline", "--output-format", "stream-json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "codeagent", *argv, "--permission-mode", "bypass"],
        env=dict(program_env),
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process, process.stdout as out:
        for line in out:
            if json.loads(line)["type"] == "assistant":
                break
        end = time.monotonic() + 20
        while not _runs(b"sleep\x001717"):
            assert time.monotonic() < end
        process.send_signal(number)
        last = json.loads(out.readlines()[-1])
    assert process.wait() == 128 + number
    assert last["type"] == "result"
    assert last["is_error"] is True
    assert last["terminal_reason"] == "aborted_tools"
    assert not _runs(b"sleep\x001717")


def _runs(command: bytes) -> bool:
    """Whether a process with these words is alive."""
    listing = subprocess.run(["ps", "-eo", "stat=,args="], capture_output=True, check=True).stdout
    words = command.replace(b"\0", b" ")
    return any(line.split(None, 1)[1:] == [words] and line[:1] != b"Z" for line in listing.splitlines() if line.strip())


def test_a_reader_that_leaves_ends_it_with_141(program_env: Mapping[str, str], project: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "codeagent", "-p", "read x", "--model", "offline", "--output-format", "stream-json"],
        env=dict(program_env),
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=50,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr


def test_the_demo_runs_without_a_terminal(program_env: Mapping[str, str], tmp_path: Path) -> None:
    done = program("demo", str(tmp_path / "tour"), env=program_env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"the tour says yes" in done.stdout
    assert b"Mended" in done.stdout


def test_models_and_doctor_for_scripts(program_env: Mapping[str, str], project: Path) -> None:
    models = json.loads(program("models", "--json", env=program_env, cwd=project).stdout)
    assert sum(model["default"] for model in models) == 1
    assert all(model["window"] >= 100_000 for model in models)
    assert b"Prices as of" in program("models", env=program_env, cwd=project).stdout
    done = program("doctor", "--json", env=program_env, cwd=project)
    found = {finding["name"]: finding["state"] for finding in json.loads(done.stdout)}
    assert done.returncode == 0
    assert found["python"] == "ok"
    assert found["key"] == "missing"
    with_key = program("doctor", "--offline", env={**program_env, "ANTHROPIC_API_KEY": "sk-test"}, cwd=project).stdout
    assert b"from ANTHROPIC_API_KEY" in with_key
    assert b"sk-test" not in with_key


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0)])
@pytest.mark.parametrize("line", ["--version", "--help", "-p 'read README.md' --model offline"])
def test_closed_standard_streams_are_no_fault(
    line: str, closed: str, code: int, program_env: Mapping[str, str], project: Path
) -> None:
    (project / "README.md").write_text("# A shop\n")
    shell = f"{sys.executable} -m codeagent {line} {closed}"
    done = subprocess.run(["sh", "-c", shell], env=dict(program_env), cwd=project, capture_output=True, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def test_a_program_can_talk_to_it(program_env: Mapping[str, str], project: Path) -> None:
    message = {"type": "user", "message": {"role": "user", "content": "run touch made"}}
    argv = ["--input-format", "stream-json", "--output-format", "stream-json", "--model", "offline"]
    process = subprocess.Popen(
        [sys.executable, "-m", "codeagent", *argv, "--verbose", "--permission-prompt-tool", "stdio"],
        env=dict(program_env),
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            told = json.loads(line)
            if told["type"] == "control_request":
                allowed = {"subtype": "success", "request_id": told["request_id"], "response": {"behavior": "allow"}}
                process.stdin.write(json.dumps({"type": "control_response", "response": allowed}).encode() + b"\n")
                process.stdin.close()
    assert told["type"] == "result"
    assert told["subtype"] == "success"
    assert process.returncode == 0
    assert (project / "made").exists()


def test_a_debug_file_is_private(program_env: Mapping[str, str], project: Path) -> None:
    argv = ["-p", "read README.md", "--model", "offline", "--debug-file"]
    program(*argv, "debug.log", env=program_env, cwd=project)
    assert "DEBUG codeagent started" in (project / "debug.log").read_text()
    assert (project / "debug.log").stat().st_mode & 0o777 == 0o600
    done = program(*argv, "no/such/debug.log", env=program_env, cwd=project)
    assert done.returncode == 2
    assert b"--debug-file no/such/debug.log cannot be written" in done.stderr


# --- the boundary ---


def test_an_unexpected_error_leaves_a_report_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cli.SUBCOMMANDS, "broken", "tests.test_cli:_broken")
    state = tmp_path / "state"
    assert cli.main(["broken"], {"XDG_STATE_HOME": str(state)}) == 1
    words = capsys.readouterr().err
    [report] = (state / "codeagent").iterdir()
    assert words.count("\n") == 1
    assert str(report) in words
    assert "Traceback" not in words
    assert "ZeroDivisionError" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600


def _broken(argv: list[str], environ: Mapping[str, str]) -> int:
    return 1 // 0


@pytest.mark.parametrize(("error", "code"), [("KeyboardInterrupt", 130), ("BrokenPipeError", 141)])
def test_what_is_no_error(error: str, code: int, program_env: Mapping[str, str], tmp_path: Path) -> None:
    script = (
        "import sys\nfrom codeagent import cli\n"
        f"def raising(argv, environ): raise {error}\n"
        "cli.SUBCOMMANDS['x'] = '__main__:raising'\nsys.exit(cli.main(['x'], {}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=dict(program_env), cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == code
    assert done.stderr == b""
