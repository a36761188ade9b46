"""A session of the tour, played to its end, and the command line to look at it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.cli import main
from codeagent.demo.tour import Tour, prepare
from tests.core.stage import Person
from tests.demo.visit import visit

Run = Callable[..., tuple[int, str, str]]


async def play(
    folder: Path, env: dict[str, str], script: Path | None = None, person: Callable[[Tour], Person] | None = None
) -> Tour:
    """The tour in `folder`, played by another script if one is given; every question is answered by `person` or yes."""
    env = {**env, "PYTHONDONTWRITEBYTECODE": "1"}  # what commands leave behind is not taken back for a rerun
    tour = prepare(folder, search_path=os.environ["PATH"])
    house = visit(tour.root, script or tour.script, tour.rules, person(tour) if person else Person(), env)
    try:
        await house.agent.say(tour.prompt)
    finally:
        await house.close()
    return tour


def only(tour: Tour) -> Path:
    """The log of its one session."""
    [path] = (tour.root / ".agent" / "sessions").glob("*.jsonl")
    return path


@pytest.fixture
async def tour(tmp_path: Path, program_env: dict[str, str]) -> Tour:
    return await play(tmp_path / "first", program_env)


@pytest.fixture
def run(program_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line: exit code, standard output, standard error."""
    monkeypatch.setenv("HOME", program_env["HOME"])

    def run_(*argv: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main(argv, program_env)
        told = capfd.readouterr()
        return code, told.out, told.err

    return run_
