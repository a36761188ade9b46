"""A small project on disk, and `read`, which reads a line in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.core.effects import ShellReading
from codeagent.host.paths import Places
from codeagent.shell.reader import read_line

Read = Callable[..., ShellReading]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("shell").resolve()
    for name in ("project/src/deep", "project/docs", "home", "other"):
        (top / name).mkdir(parents=True)
    (top / "project" / "README.md").write_text("read me\n")
    (top / "project" / ".env").write_text("KEY=1\n")
    (top / "project" / "src" / "app.py").write_text("import os\n")
    (top / "project" / "out").symlink_to(top / "other")
    (top / "project" / "up").symlink_to("src")
    (top / "project" / "far").symlink_to(top / "project" / "src" / "deep")
    return top / "project"


@pytest.fixture(scope="session")
def read(project: Path) -> Read:
    places = Places(project, project.parent / "home")

    def one(command: str, *, inert: bool = True, cwd: str = "") -> ShellReading:
        return read_line(command, cwd or str(project), places.judge, lambda: inert)

    return one
