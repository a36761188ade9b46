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
