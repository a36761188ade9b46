"""Completion: what is offered where, and the scripts in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codeagent import cli, flags
from codeagent.completing import _parser, offer
from codeagent.models import catalog
from codeagent.setting_keys import KEYS
from codeagent.subcommands import COMMANDS
from tests.fronts.pseudo_terminal import PseudoTerminal
from tests.test_startup import SCREENS, SDK, imported, packages


def words(*typed: str, environ: Mapping[str, str] | None = None) -> list[str]:
    found = offer(typed, environ or {})
    return [word for word, _ in found.words] if found.kind == "words" else [f"<{found.kind}>"]


def test_every_flag_and_choice_of_every_parser_is_offered() -> None:
    """What the parsers know is what is offered: nothing to keep in step."""
    lines: list[tuple[list[str], flags.Parser]] = [([], flags.parser())]
    for name in COMMANDS:
        acts = [act for kind in _parser(name, []).takes[:1] if isinstance(kind, tuple) for act in kind]
        lines += [([name, *act], _parser(name, act)) for act in ([], *([act] for act in acts))]
    for before, parser in lines:
        for action in parser._actions:
            for flag in action.option_strings:
                assert flag in words(*before, flag[:-1]), (before, flag)
            if action.choices and action.option_strings:
                assert words(*before, action.option_strings[-1], "") == list(action.choices)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (("mod",), ["models"]),
        (("trust", ""), ["show", "yes", "no"]),
        (("sessions", "re"), ["rename"]),
        (("sessions", "--all", "sh"), ["show"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("--model", "hai"), ["haiku"]),
        (("--model=hai",), ["--model=haiku"]),
        (("--model", "=", "hai"), ["haiku"]),
        (("--model", "="), words("--model", "")),
        (("--permissionMode", "acc"), ["acceptEdits"]),
        (("--permission-mode=acc",), ["--permission-mode=acceptEdits"]),
        (("--effort", "m"), ["medium", "max"]),
        (("--model", "script", ":", "x"), ["<files>"]),
        (("--system-prompt-file", ""), ["<files>"]),
        (("--json-schema", ""), ["<files>"]),
        (("--cwd", ""), ["<directories>"]),
        (("demo", ""), ["<directories>"]),
        (("config", "get", "maxT"), ["maxTurns", "maxTokensTotal"]),
        (("config", "set", "vim", ""), ["true", "false"]),
        (("config", "set", "theme", "--local", "light"), ["light", "light-safe"]),
        (("config", "set", "nothing", ""), []),
        (("permissions", "check", ""), ["<files>"]),
        (("--xyzzy=", ""), ["<files>"]),
        (("explain", ""), ["<files>"]),
        (("-p", "--", "--mo"), ["<files>"]),
        (("doctor", "x"), []),
        (("--max-turns", ""), []),
        ((), list(COMMANDS)),
    ],
)
def test_what_is_offered(typed: Sequence[str], wanted: Sequence[str]) -> None:
    assert words(*typed) == list(wanted)


def test_names_of_models_and_settings_are_all_there() -> None:
    assert {name for name, _ in catalog.listed()} < set(words("--model", ""))
    assert set(words("config", "get", "")) == set(KEYS)


@pytest.fixture
def session(project: Path, program_env: dict[str, str]) -> str:
    """The id of a session in the project, named `the cart; rm -rf x`."""
    (project / "README.md").write_text("x\n")
    argv = ["-m", "codeagent", "-p", "read README.md", "--model", "offline", "--name", "the cart; rm -rf x"]
    subprocess.run([sys.executable, *argv], env=program_env, cwd=project, check=True, capture_output=True)
    [log] = (project / ".agent/sessions").glob("*.jsonl")
    return log.stem


def test_sessions_are_offered_by_id_and_once_begun_by_name(
    session: str, project: Path, program_env: dict[str, str]
) -> None:
    place = ("--cwd", str(project))
    for before in (["-r"], ["replay"], ["inspect"], ["audit"], ["sessions", "show"], ["sessions", "prune", "x"]):
        offered = words(*place, *before, "") if before == ["-r"] else words(*before, *place, "")
        assert offered == ([session] if before[-1] != "x" else []), before
    assert words(*place, "--resume", "the", environ=program_env) == ["the cart; rm -rf x"]


def test_a_file_that_is_no_session_of_ours_is_not_offered(session: str, project: Path) -> None:
    folder = project / ".agent/sessions"
    (folder / "$(touch made).jsonl").write_bytes((folder / f"{session}.jsonl").read_bytes())
    assert words("inspect", "--cwd", str(project), "") == [session]


def test_it_imports_little(session: str, program_env: dict[str, str], project: Path) -> None:
    for typed, most in (([""], 80), (["--model", ""], 150), (["sessions", "show", ""], 190)):
        found = imported("-m", "codeagent", "completion", "words", "--", *typed, env=program_env, cwd=project)
        assert not {"asyncio", "pydantic", *SDK, *SCREENS} & packages(found), typed
        assert len(found) <= most, typed


# --- in real shells ---


@pytest.fixture
def shell_env(program_env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """With `codeagent` on the path, as it is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "codeagent"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeagent "$@"\n')
    program.chmod(0o755)
    return {**program_env, "PATH": f"{folder}{os.pathsep}{program_env['PATH']}"}


def ran(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> str:
    done = subprocess.run(argv, env=dict(env), cwd=cwd, capture_output=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def in_bash(typed: Sequence[str], env: Mapping[str, str], cwd: Path) -> list[str]:
    """What bash would offer for the last of these words."""
    line = " ".join(["codeagent", *(repr(word) for word in typed)])
    script = (
        'eval "$(codeagent completion bash)"\n'
        f"COMP_WORDS=({line})\nCOMP_CWORD={len(typed)}\n"
        '_codeagent\nprintf "%s\\n" "${COMPREPLY[@]}"\ncomplete -p codeagent >/dev/null || exit 3\n'
    )
    return ran(["bash", "--norc", "-c", script], env, cwd).splitlines()


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes(session: str, shell_env: dict[str, str], project: Path) -> None:
    (project / "shop").mkdir()
    assert in_bash(["sess"], shell_env, project) == ["sessions"]
    assert in_bash(["--output-format", "st"], shell_env, project) == ["stream-json"]
    assert in_bash(["--model", "=", "op"], shell_env, project) == ["opus"]
    assert in_bash(["sessions", "show", session[:4]], shell_env, project) == [session]
    assert in_bash(["-r", "the"], shell_env, project) == [r"the\ cart\;\ rm\ -rf\ x"], (
        "quoted: it names, and runs nothing"
    )
    assert in_bash(["--cwd", "sh"], shell_env, project) == ["shop"]
    assert in_bash(["--json-schema", ""], shell_env, project) == [""], "bash offers files itself"


@pytest.mark.pty
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_tab_in_an_interactive_bash(session: str, shell_env: dict[str, str], project: Path) -> None:
    with PseudoTerminal(["bash", "--norc", "-i"], env={**shell_env, "PS1": "$ "}, cwd=project) as terminal:
        terminal.wait_for("$ ")
        terminal.type('eval "$(codeagent completion bash)"; echo re""ady\r')
        terminal.wait_for("ready")
        for typed, shown in (
            ("codeagent comple\t", "codeagent completion "),
            ("codeagent --model=so\t", "codeagent --model=sonnet "),
            ("codeagent --output-f\t", "codeagent --output-format "),
            ("codeagent -r the\t", r"codeagent -r the\ cart\;\ rm\ -rf\ x "),
            ("codeagent --json-schema READ\t", "codeagent --json-schema README.md "),
        ):
            terminal.type(typed)
            terminal.wait_for(shown)
            terminal.type("\x15")  # clear the line


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes(shell_env: dict[str, str], project: Path) -> None:
    script = (
        "autoload -U compinit && compinit -u\n"
        'eval "$(codeagent completion zsh)"\n'
        "_describe() { print -rl -- ${(P)2} }\n"
        "words=(codeagent sessions sh) CURRENT=3\n_codeagent\n"
    )
    assert ran(["zsh", "-f", "-c", script], shell_env, project) == "show:\n"


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes(shell_env: dict[str, str], project: Path) -> None:
    script = "codeagent completion fish | source; complete -C 'codeagent sessions sh'"
    assert ran(["fish", "--no-config", "-c", script], shell_env, project).strip() == "show"


@pytest.mark.parametrize("argv", [["completion"], ["completion", "bsh"], ["completion", "bash", "zsh"]])
def test_no_script_is_printed_unless_one_shell_is_named(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv, {}) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("codeagent: For which shell? codeagent completion bash, zsh or fish.")


def test_every_subcommand_shows_an_example_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = {"sessions", "replay", "inspect", "permissions", "audit", "memory", "trust", "config", "models", "doctor"}
    for name in COMMANDS:
        assert cli.main([name, "--help"], {}) == 0
        told = capsys.readouterr().out
        assert "examples:" in told
        assert f"codeagent {name}" in told
        assert ("--json" in told) == (name in scripts), name
    for act in _parser("sessions", []).takes[0]:
        assert cli.main(["sessions", act, "--help"], {}) == 0
        told = capsys.readouterr().out
        assert "example" in told
        assert f"codeagent sessions {act}" in told
