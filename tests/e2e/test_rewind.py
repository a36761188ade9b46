"""Going back in the real program: what edits and commands did is undone, and done again."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import CART, Open
from tests.e2e.program import said, until
from tests.loopback import Loopback, call, say

BYPASS = ("--plain", "--permission-mode", "bypass")


def picture(shop: Path) -> dict[str, bytes]:
    """Bytes of all files that are not ours."""
    files = (path for path in shop.rglob("*") if path.is_file())
    return {name: path.read_bytes() for path in files if not (name := str(path.relative_to(shop))).startswith(".")}


def typed(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("git", [True, False])
def test_a_turn_in_which_a_command_deleted_a_directory(git: bool, program: Open, shop: Path) -> None:
    (shop / "docs/deep").mkdir(parents=True)
    (shop / "docs/deep/a.md").write_text("a")
    (shop / "docs/run").write_text("b")
    (shop / "docs/run").chmod(0o750)
    if git:
        subprocess.run(["git", "init", "-q", str(shop)], check=True)
    before = picture(shop)
    replies = [
        call("read", file_path="cart.py"),
        call("edit", file_path="cart.py", old_string="* discount / 100", new_string="* (100 - discount) / 100"),
        say("Mended."),
        call("bash", command="rm -r docs; echo new >made; echo more >>cart.py"),
        say("Tidied."),
        say("As you like."),
    ]
    with Loopback(replies) as server:
        made = program(server)
        done = made.run(*BYPASS, stdin=typed("mend it", "tidy up", "/rewind", "/rewind 2", "and now?"))
    assert done.code == 0, done.err
    assert "2  tidy up  -  4 files: cart.py, docs/deep/a.md, docs/run and 1 more" in done.out
    assert "You had said: tidy up" in done.out
    assert picture(shop) == {**before, "cart.py": CART.replace("discount / 100", "(100 - discount) / 100").encode()}
    assert (shop / "docs/run").stat().st_mode & 0o777 == 0o750
    assert "tidy up" not in said(server.bodies[-1])
    assert "mend it" in said(server.bodies[-1])
    assert not any(seen.problems for seen in server.requests)


def test_it_goes_back_and_forth_in_a_later_run(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="rm test_cart.py; echo x >new"), say("Done.")]) as server:
        made = program(server)
        assert made.run(*BYPASS, stdin=typed("clean")).code == 0
        after = picture(shop)
        assert made.run(*BYPASS, "-c", stdin=typed("/undo 1")).code == 0
        before = picture(shop)
        assert made.run(*BYPASS, "-c", stdin=typed("/rewind undo")).code == 0
    assert sorted(before) == ["cart.py", "test_cart.py"]
    assert picture(shop) == after


def test_what_was_changed_by_hand_since_is_shown_first(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="echo theirs >cart.py"), say("Done.")]) as server:
        made = program(server)
        made.run(*BYPASS, stdin=typed("go"))
        (shop / "cart.py").write_text("mine\n")
        done = made.run(*BYPASS, "-c", stdin=typed("/rewind 1"))
        assert "cart.py: was changed since by someone else" in done.out
        assert (shop / "cart.py").read_text() == "mine\n"
        made.run(*BYPASS, "-c", stdin=typed("/rewind 1 anyway"))
        assert (shop / "cart.py").read_text() == CART
        made.run(*BYPASS, "-c", stdin=typed("/rewind undo"))
    assert (shop / "cart.py").read_text() == "mine\n"


def test_a_command_that_was_killed_with_us_is_undone(program: Open, shop: Path) -> None:
    command = "rm cart.py; echo $$ >pid; exec sleep 300"
    with Loopback([call("bash", command=command)]) as server:
        made = program(server)
        with made.start("-p", "go", "--permission-mode", "bypass") as running:
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            running.signal(signal.SIGKILL)
            running.process.communicate()
        done = made.run(*BYPASS, "-r", made.logs[0].stem, stdin=typed("/rewind 1"))
    assert done.code == 0, done.err
    assert (shop / "cart.py").read_text() == CART
    assert not (shop / "pid").exists()


def test_snapshots_stay_out_of_git(program: Open, shop: Path) -> None:
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    with Loopback([call("bash", command="echo x >cart.py"), say("Done.")]) as server:
        program(server).run(*BYPASS, stdin=typed("go"))
    listed = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=shop, capture_output=True, check=True).stdout
    assert (shop / ".agent/snapshots").is_dir()
    assert b"snapshots" not in listed
    assert not list((shop / ".git").glob("refs/*/*")), "nothing of it is in the user's git"
