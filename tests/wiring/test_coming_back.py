"""How to come back to a session: by what can be typed in the shell that started the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.wiring.coming_back import command, program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a `codeagent` and a `python`, both of which can be run."""
    made = tmp_path / "the bin"
    made.mkdir()
    for name in ("codeagent", "python"):
        (made / name).write_text("#!/bin/sh\n")
        (made / name).chmod(0o755)
    return made


def test_by_name_only_where_path_leads_to_it(folder: Path) -> None:
    script = str(folder / "codeagent")
    assert program("python", script, {"PATH": str(folder)}) == "codeagent"
    assert program("python", script, {"PATH": "/usr/bin"}) == f"'{script}'"
    assert program("python", ".venv/bin/codeagent", {"PATH": str(folder)}) == ".venv/bin/codeagent"


def test_as_a_module_and_from_within_another_program(folder: Path) -> None:
    module = "/lib/codeagent/__main__.py"
    assert program(str(folder / "python"), module, {"PATH": str(folder)}) == "python -m codeagent"
    assert program(str(folder / "python"), module, {}) == f"'{folder / 'python'}' -m codeagent"
    assert program("python", "/usr/bin/pytest", {}) == "codeagent"


def test_the_place_is_named_where_the_shell_is_elsewhere(folder: Path) -> None:
    assert command("s", Path.cwd(), ("python", "codeagent"), {}) == "codeagent -r s"
    assert command("s", folder, ("python", "x"), {}) == f"codeagent -r s --cwd '{folder}'"
