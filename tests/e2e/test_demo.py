"""The tour without a terminal, a key or a network: a story on standard output, and exit 0."""

from __future__ import annotations

import subprocess

from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND


def test_the_tour_tells_its_story(program: Open, tmp_path: object) -> None:
    made = program()
    done = subprocess.run(
        [*COMMAND, "demo", str(tmp_path)],
        env=made.env,
        cwd=made.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for part in ("[step 1]", "edit(", "bash(", "tool steps"):
        assert part in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    shop = done.stderr.partition("The tour works in ")[2].splitlines()[0]
    audit = subprocess.run([*COMMAND, "audit"], env=made.env, cwd=shop, capture_output=True, text=True, check=True)
    assert "by the tour: The tour said yes." in audit.stdout


def test_a_headless_run_is_counted_where_it_is_not_listed(program: Open) -> None:
    made = program()
    for argv in (["--model", "offline", "-p", "help"], ["sessions"]):
        done = subprocess.run(
            [*COMMAND, *argv], env=made.env, cwd=made.project, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )
    assert b"Not shown: 1 headless run. To see all: codeagent sessions --all" in done.stdout
