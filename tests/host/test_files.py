"""Reading windows of big files, refusing what is no file, and replacing files whole."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import pytest

from codeagent.core.errors import ToolFault
from codeagent.host import files
from codeagent.host.nearby import near_names, twin
from codeagent.host.storing import store


@pytest.mark.parametrize("seed", range(4))
def test_a_window_is_what_splitting_gives(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    lines = [bytes([65 + n % 26]) * rng.choice([0, 1, 50, 3000, 1 << 20]) for n in range(60)]
    data = b"\n".join(lines) + (b"\n" if seed % 2 else b"")
    if seed % 2 == 0 and not lines[-1]:
        lines.pop()
    path = tmp_path / "f"
    path.write_bytes(data)
    for first in (1, 2, 30, 59, 60, 61):
        found = files.window(str(path), first, 5, 100)
        assert found.lines == [line[:100] for line in lines[first - 1 : first + 4]]
        assert found.total == len(lines)
        assert found.digest == files.digest(data)


def test_a_sparse_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert b"\0" in files.window(str(path), 1, 10, 100).head
    with pytest.raises(ToolFault) as caught:
        files.load(str(path))
    assert caught.value.kind == "too_large"


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    kinds = {}
    for name in ("fifo", "link", "missing", "."):
        with pytest.raises(ToolFault) as caught:
            files.load(str(tmp_path / name))
        kinds[name] = caught.value.kind
    assert kinds == {"fifo": "not_regular", "link": "io", "missing": "no_file", ".": "is_directory"}
    with pytest.raises(ToolFault, match="not a regular file"):
        files.load("/dev/zero")


def test_storing_keeps_the_mode_and_writes_nothing_when_stale(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o751)
    store(str(path), b"new", files.digest(b"old"))
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o751)
    with pytest.raises(ToolFault) as caught:
        store(str(path), b"newer", files.digest(b"old"))
    assert caught.value.kind == "stale"
    with pytest.raises(ToolFault) as caught:
        store(str(path), b"created", "")
    assert caught.value.kind == "stale"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["f"]


def test_a_name_of_255_bytes_and_one_that_is_not_utf8(tmp_path: Path) -> None:
    for name in (b"x" * 255, b"bad\xff\n-name"):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
        store(path, b"1", "")
        store(path, b"22", files.digest(b"1"))
        assert files.load(path) == b"22"


def test_a_name_among_very_many_is_compared_with_those_that_begin_alike(tmp_path: Path) -> None:
    for n in range(4_000):
        (tmp_path / f"{'aBcd'[n % 4]}{n:05}.txt").touch()
    assert near_names(str(tmp_path / "b03001.text"), tmp_path)[0] == "B03001.txt"
    assert near_names(str(tmp_path / "a00000.tx"), tmp_path)[0] == "a00000.txt"
    assert near_names(str(tmp_path / "d03999.txts"), tmp_path)[0] == "d03999.txt"
    assert near_names(str(tmp_path / "d00003.txt/x"), tmp_path) == []


def test_near_names(tmp_path: Path) -> None:
    for name in ("README.md", "src/cart.py", "deploy/config.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert near_names(str(tmp_path / "readme.MD"), tmp_path) == ["README.md"]
    assert near_names(str(tmp_path / "src/carts.py"), tmp_path) == ["src/cart.py"]
    assert near_names(str(tmp_path / "lib/config.yaml"), tmp_path) == ["deploy/config.yaml"]
    assert near_names("/elsewhere/README.md", tmp_path) == []


def test_twins_differ_in_blanks_only(tmp_path: Path) -> None:
    (tmp_path / "Shot 9.41\u202fAM.png").touch()
    assert twin(str(tmp_path / "Shot 9.41 AM.png")) == str(tmp_path / "Shot 9.41\u202fAM.png")
    assert twin(str(tmp_path / "Shot 9.42 AM.png")) == ""
