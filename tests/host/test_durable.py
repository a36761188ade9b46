"""Small private files: old or new, never half; one process at a time."""

import os
import stat
import subprocess
import sys

import pytest

from codeagent.host.durable import locked, make_private, replace


def test_a_file_is_replaced_with_its_mode_kept(tmp_path):
    path = tmp_path / "deep" / "a"
    replace(path, b"one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o640)
    replace(path, b"two")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    replace(link, b"three")
    assert link.is_symlink()
    assert path.read_bytes() == b"three"


FULL = """
import resource, sys
from pathlib import Path
from codeagent.host.durable import replace
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    replace(Path(sys.argv[1]), b"x" * 1000)
except OSError as fault:
    print("refused")
"""


def test_a_full_disk_leaves_the_old_bytes_and_no_rest(tmp_path):
    path = tmp_path / "a"
    replace(path, b"old")
    assert subprocess.check_output([sys.executable, "-c", FULL, str(path)], text=True) == "refused\n"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


COUNT = """
import sys
from pathlib import Path
from codeagent.host.durable import locked, replace
lock, path = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(20):
    with locked(lock):
        replace(path, b"%d" % (int(path.read_bytes()) + 1))
"""


def test_a_lock_lets_one_in_at_a_time(tmp_path):
    lock, path = tmp_path / "d" / "lock", tmp_path / "n"
    path.write_bytes(b"0")
    children = [subprocess.Popen([sys.executable, "-c", COUNT, str(lock), str(path)]) for _ in range(3)]
    assert [child.wait() for child in children] == [0] * 3
    assert path.read_bytes() == b"60"


def test_a_lock_is_no_link(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match=r"."), locked(tmp_path / "lock"):
        pass


def test_private_directories_leave_what_is_there(tmp_path):
    tmp_path.chmod(0o755)
    make_private(tmp_path / "a" / "b")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
