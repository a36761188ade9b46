"""The file of what was typed in a project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codeagent.fronts import past


def test_it_is_private_and_survives_broken_lines(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    past.add(path, "first\nof two lines")
    with path.open("a") as file:
        file.write('not json\n{"no": "string"}\n')
    past.add(path, "second \ud800")
    assert past.read(path) == ["first\nof two lines", "second ?"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_the_latest_are_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f'"{number}"\n' for number in range(past.MOST + 5)))
    assert past.read(path) == [str(number) for number in range(5, past.MOST + 5)]


def test_a_link_that_came_with_the_project_is_not_followed(tmp_path: Path) -> None:
    own = tmp_path / "profile"
    own.write_text('"mine"\n')
    link = tmp_path / "history.jsonl"
    link.symlink_to(own)
    assert past.read(link) == []
    with pytest.raises(OSError, match="symbolic links"):
        past.add(link, "typed")
    assert own.read_text() == '"mine"\n'


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "history.jsonl"
    os.mkfifo(pipe)
    assert past.read(pipe) == []
    with pytest.raises(OSError, match=r"No such device|no ordinary file"):
        past.add(pipe, "typed")
