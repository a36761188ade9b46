"""Killed just before every call that changes the disk: what was seen is kept, files are whole, nothing runs twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.conversation import request
from codeagent.core.events import ToolFinished, UserSaid
from codeagent.core.messages import Text
from codeagent.models import check
from codeagent.models.anthropic_wire import body
from codeagent.sessions.load import load
from tests.e2e.conftest import CART
from tests.e2e.program import Program

SCRIPT = r"""
say I look at the cart.
call read {"file_path": "cart.py"}
---
call edit {"file_path": "cart.py", "old_string": "discount / 100", "new_string": "(100 - discount) / 100"}
call bash {"command": "echo one >>ran"}
---
say Now the notes.
call write {"file_path": "docs/notes.md", "content": "The cart is mended.\n"}
call bash {"command": "echo two >>ran; rm test_cart.py"}
---
call edit {"file_path": "docs/notes.md", "old_string": "mended", "new_string": "whole"}
---
say All done.
---
say Going on.
---
say And on.
"""

MENDED = CART.replace("discount / 100", "(100 - discount) / 100")
MAY_BE = {
    "cart.py": {CART, MENDED},
    "docs/notes.md": {None, "The cart is mended.\n", "The cart is whole.\n"},
    "ran": {None, "one\n", "one\ntwo\n", "two\n"},
    "test_cart.py": {None, "tests\n"},
}
"""What each file may hold at any moment; a call whose outcome is unknown is left out by the script from then on."""

SEED = 5

LONG = 120.0
"""Seconds that a run may take when the machine is busy with other tests."""


class Victim:
    """A fresh project each time."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder, self.project = folder, folder / "project"
        self.project.mkdir(parents=True)
        (self.project / "cart.py").write_text(CART)
        (self.project / "test_cart.py").write_text("tests\n")
        self.script = folder / "talk.script"
        self.script.write_text(SCRIPT)
        shims = Path(__file__).parent / "killing"
        self.env = {**env, "PYTHONPATH": f"{shims}:{env['PYTHONPATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        self.arguments = ("--model", f"script:{self.script}", "--permission-mode", "bypass")

    def command(self, prompt: str, *more: str) -> list[str]:
        lines = ("--output-format", "stream-json", *self.arguments, *more)
        return [sys.executable, "-m", "codeagent", "-p", prompt, *lines]

    def run(self, **env: str) -> subprocess.CompletedProcess[bytes]:
        command = self.command("mend it")
        return subprocess.run(
            command, env={**self.env, **env}, cwd=self.project, capture_output=True, timeout=LONG, check=False
        )

    # --- what must hold ---

    def check(self, shown: bytes) -> None:
        """Everything that was shown is on record, files are old or new, the next request is valid."""
        logs = list((self.project / ".agent/sessions").glob("*.jsonl"))
        seen = list(events(shown))
        self.check_files()
        if not logs or not (entries := load(logs[0]).entries):
            assert not [line for line in seen if line["type"] in ("assistant", "user")]
            return
        kept = json.dumps([str(entry) for entry in entries])
        for line in seen:
            for block in line.get("message", {}).get("content", ()) if line["type"] in ("assistant", "user") else ():
                about = block.get("tool_use_id") or block.get("id") or json.dumps(block["text"])[1:-1]
                assert about in kept, f"shown and not on record: {block}"
        finished = [entry.use_id for entry in entries if isinstance(entry, ToolFinished)]
        assert len(set(finished)) == len(finished)
        said = body(request([*entries, UserSaid((Text("go on"),))]), ())
        assert check.problems(said) == []

    def check_files(self) -> None:
        for name, may_be in MAY_BE.items():
            path = self.project / name
            assert (path.read_text() if path.exists() else None) in may_be, name
        left = [path for path in self.project.rglob("*") if path.name.startswith(".codeagent-")]
        assert len(left) <= 1, "a temporary file may be left, and the next change beside it sweeps it"

    def go_on(self) -> None:
        """The session is resumed and comes to its end, and then everything is taken back."""
        program = Program(self.project, self.env)
        logs = program.logs
        if not logs or not any(isinstance(entry, UserSaid) for entry in load(logs[0]).entries):
            return  # nothing was said yet: there is nothing to come back to
        again = program.run("-p", "go on", "-r", logs[0].stem, *self.arguments, seconds=LONG)
        assert again.code == 0, again.err
        self.check(b"")
        program.run("--plain", "-r", logs[0].stem, *self.arguments, stdin=b"/rewind 1\n", seconds=LONG)
        assert (self.project / "cart.py").read_text() == CART
        assert (self.project / "test_cart.py").read_text() == "tests\n"
        assert not (self.project / "docs").exists()
        assert not (self.project / "ran").exists()


def events(shown: bytes) -> Iterator[dict[str, Any]]:
    """The whole lines of a stream."""
    for line in shown.splitlines(keepends=True):
        if line.endswith(b"\n"):
            yield json.loads(line)


@pytest.fixture
def victims(tmp_path: Path, program_env: Mapping[str, str]) -> Iterator[Victim]:
    """One after the other, all the same."""
    return (Victim(tmp_path / str(number), program_env) for number in range(100_000))


def calls_of_a_run(victim: Victim) -> int:
    count = victim.folder / "count"
    ended = victim.run(KILL_COUNT=str(count))
    assert ended.returncode == 0, ended.stderr.decode()
    victim.check(ended.stdout)
    assert (victim.project / "docs/notes.md").read_text() == "The cart is whole.\n"
    return int(count.read_text())


def killed_at(victim: Victim, number: int, *, torn: bool, on: bool) -> None:
    ended = victim.run(KILL_AT=str(number), **({"KILL_TORN": "1"} if torn else {}))
    assert ended.returncode in (-signal.SIGKILL, 0), ended.stderr.decode()
    victim.check(ended.stdout)
    if on:
        victim.go_on()


def test_killed_at_some_calls(victims: Iterator[Victim]) -> None:
    total = calls_of_a_run(next(victims))
    chance = random.Random(SEED)
    for number in sorted(chance.sample(range(1, total + 1), 6)):
        killed_at(next(victims), number, torn=bool(number % 2), on=True)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("torn", [False, True])
def test_killed_at_every_call(torn: bool, victims: Iterator[Victim]) -> None:
    total = calls_of_a_run(next(victims))
    for number in range(1, total + 1):
        killed_at(next(victims), number, torn=torn, on=True)
    print(f"{total} calls")


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_killed_at_two_hundred_random_moments(victims: Iterator[Victim]) -> None:
    chance = random.Random(SEED)
    began = time.monotonic()
    calls_of_a_run(next(victims))
    usual = time.monotonic() - began
    for number in range(200):
        victim = next(victims)
        process = subprocess.Popen(
            victim.command("mend it"),
            env=victim.env,
            cwd=victim.project,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            shown, _ = process.communicate(timeout=chance.uniform(0, usual))
        except subprocess.TimeoutExpired:
            process.kill()
            shown, _ = process.communicate()
        victim.check(shown)
        if number % 5 == 0:
            victim.go_on()
