"""Scripts through the real program: a process, its output, a kill and a resume."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

RECORDINGS = Path(__file__).parent.parent / "recordings"


def start(project: Path, env: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "codeagent", "-p", *arguments],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_first_run_of_the_guide(project: Path, program_env: dict[str, str]) -> None:
    (project / "README.md").write_text("# Corner shop\n", encoding="utf-8")
    script = f"script:{RECORDINGS / 'readme.script'}"
    with start(project, program_env, "what?", "--model", script, "--allowed-tools", "Bash(date:*)") as run:
        out, err = run.communicate(timeout=30)
    assert run.returncode == 0, err
    assert out.startswith("The README begins with “# Corner shop”, and it is ")


def test_a_killed_run_goes_on_at_its_place(project: Path, program_env: dict[str, str]) -> None:
    script = project / "nap.script"
    script.write_text(
        'say I nap.\ncall bash {"command": "sleep 2"}\n---\nsay The nap: {{bash ~ unknown|was not run}}.\n',
        encoding="utf-8",
    )
    with start(project, program_env, "nap", "--model", f"script:{script}") as first:
        assert first.stderr is not None
        assert "bash" in first.stderr.readline()
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=30)
    with start(project, program_env, "-c", "go on") as second:
        out, err = second.communicate(timeout=30)
    assert second.returncode == 0, err
    assert out.startswith("The nap: ")
