"""What is imported on the way to each answer: counts of modules in a fresh interpreter, never milliseconds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SDK = {"anthropic", "httpx2", "openai"}
SCREENS = {"textual", "prompt_toolkit", "rich"}


def imported(*argv: str, env: Mapping[str, str], cwd: Path) -> set[str]:
    """Every module that this command line imports, those of the bare interpreter left out."""
    return _imports([*argv], env, cwd) - _imports(["-c", "pass"], env, cwd)


def _imports(argv: list[str], env: Mapping[str, str], cwd: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *argv],
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = (line for line in done.stderr.decode().splitlines() if line.startswith("import time:"))
    return {row.rsplit("|", 1)[1].strip() for row in rows}


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_version_imports_next_to_nothing(program_env: Mapping[str, str], tmp_path: Path) -> None:
    found = imported("-m", "codeagent", "--version", env=program_env, cwd=tmp_path)
    assert not {"argparse", "asyncio", "msgspec", "re", "json", "pathlib"} & found
    assert {name for name in found if name.startswith("codeagent")} <= {"codeagent"}
    assert len(found) <= 25


def test_help_imports_argparse_and_little_else(program_env: Mapping[str, str], tmp_path: Path) -> None:
    found = imported("-m", "codeagent", "--help", env=program_env, cwd=tmp_path)
    assert not {"asyncio", "msgspec", "pydantic", *SDK, *SCREENS} & packages(found)
    assert len(found) <= 70


@pytest.mark.parametrize("argv", [["--modle"], ["sesions"]])
def test_mistakes_import_no_more_than_they_need(
    argv: list[str], program_env: Mapping[str, str], tmp_path: Path
) -> None:
    script = f"import sys; from codeagent.cli import main; sys.exit(main({argv!r}, {{}}) - 2)"
    found = imported("-c", script, env=program_env, cwd=tmp_path)
    assert not {"asyncio", "pydantic", *SDK, *SCREENS} & packages(found)


def test_headless_imports_no_screen_and_offline_no_sdk(program_env: Mapping[str, str], project: Path) -> None:
    (project / "README.md").write_text("x\n")
    argv = ["-m", "codeagent", "-p", "read README.md", "--model", "offline", "--quiet"]
    found = imported(*argv, env=program_env, cwd=project)
    assert not {*SDK, *SCREENS, "keyring", "tree_sitter"} & packages(found)
    assert len(found) <= 425


def test_subcommands_import_no_screen(program_env: Mapping[str, str], project: Path) -> None:
    for argv in (["models"], ["sessions"], ["sessions", "--json"]):
        found = imported("-m", "codeagent", *argv, env=program_env, cwd=project)
        assert not {*SDK, *SCREENS, "asyncio", "pydantic"} & packages(found), argv


def test_the_plain_front_brings_rich_and_its_editor_only_when_used(
    program_env: Mapping[str, str], tmp_path: Path
) -> None:
    found = imported("-c", "import codeagent.fronts.repl.app", env=program_env, cwd=tmp_path)
    assert not {*SDK, *SCREENS, "pydantic"} & packages(found)


def test_the_full_screen_is_there_before_the_sdk(program_env: Mapping[str, str], tmp_path: Path) -> None:
    found = imported("-c", "import codeagent.wiring, codeagent.fronts.tui.app", env=program_env, cwd=tmp_path)
    assert not {*SDK, "pydantic", "pathspec", "prompt_toolkit", "keyring", "markdown_it", "pygments"} & packages(found)
    assert not {"codeagent.wiring.house", "codeagent.settings", "rich.markdown"} & found
    assert len(found) <= 500
