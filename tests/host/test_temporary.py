"""What a killed run leaves is removed by the next one, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeagent.host.temporary import Temporary, remove_left

MAKER = """
import sys
from pathlib import Path
from codeagent.host.temporary import Temporary
made = Temporary("walls")
(made.path / "deep").mkdir()
(made.path / "deep" / "file").write_text("x")
print(made.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that lives until it is killed, and its directory."""
    environ = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", MAKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stdout
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_a_living_ones_stays_and_a_killed_ones_goes(tmp_path: Path, maker: tuple[subprocess.Popen[str], Path]) -> None:
    process, path = maker
    assert (path / "deep/file").exists()
    assert remove_left(tmp_path) == []
    process.kill()
    process.wait()
    assert remove_left(tmp_path) == [path]
    assert not path.exists()


def test_a_lock_keeps_it_where_its_maker_has_another_number(
    tmp_path: Path, maker: tuple[subprocess.Popen[str], Path]
) -> None:
    _, path = maker
    other = path.rename(tmp_path / f"codeagent-walls-{dead()}-abc")
    assert remove_left(tmp_path) == []
    assert (other / "deep/file").exists()


def test_links_files_other_names_and_other_users_are_left_alone(tmp_path: Path) -> None:
    treasure, place = tmp_path / "treasure", tmp_path / "tmp"
    (treasure / "gold").mkdir(parents=True)
    place.mkdir()
    (place / f"codeagent-walls-{dead()}-link").symlink_to(treasure)
    (place / f"codeagent-walls-{dead()}-file").write_text("mine")
    (place / "codeagent-walls").mkdir()
    (place / "codeagent-kept-abc").mkdir()
    (place / f"codeagent-walls-{'9' * 30}-abc").mkdir()
    if os.geteuid() == 0:
        other = place / f"codeagent-walls-{dead()}-other"
        other.mkdir()
        os.chown(other, 12345, 12345)
    before = sorted(place.iterdir())
    assert remove_left(place) == []
    assert sorted(place.iterdir()) == before
    assert (treasure / "gold").is_dir()


def test_what_lies_inside_as_a_link_does_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "treasure" / "gold").mkdir(parents=True)
    left = tmp_path / f"codeagent-replay-{dead()}-abc"
    left.mkdir()
    (left / "way").symlink_to(tmp_path / "treasure")
    assert remove_left(tmp_path) == [left]
    assert (tmp_path / "treasure" / "gold").is_dir()


def test_without_time_nothing_is_begun(tmp_path: Path) -> None:
    (tmp_path / f"codeagent-walls-{dead()}-abc").mkdir()
    assert remove_left(tmp_path, patience=-1) == []


def test_closing_removes_it() -> None:
    made = Temporary("walls")
    (made.path / "file").write_text("x")
    made.close()
    assert not made.path.exists()


def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
