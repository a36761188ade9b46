"""The tour: every answer that a person can give leads through the real loop and gate to an honest end."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.effects import Answer
from codeagent.core.events import Event, Noted, ToolFinished
from codeagent.core.ports import Front
from codeagent.core.views import TodoItem
from codeagent.demo.guide import Guide
from codeagent.demo.tour import Tour, prepare
from codeagent.wiring.house import House
from tests.core.stage import Person
from tests.demo.visit import end, ran, said, visit

BROKEN = "        return round(self.subtotal() * (1 - self.discount))\n"


Open = Callable[..., House]


@pytest.fixture
async def session(tour: Tour, program_env: dict[str, str]) -> AsyncIterator[Open]:
    """Opens sessions of the tour, and closes them after the test."""
    houses: list[House] = []

    def open_(front: Front, **more: Any) -> House:
        houses.append(visit(tour.root, tour.script, tour.rules, front, program_env, **more))
        return houses[-1]

    yield open_
    for house in houses:
        await house.close()


@pytest.fixture
def tour(tmp_path: Path) -> Tour:
    return prepare(tmp_path, search_path=os.environ["PATH"])


def cart(tour: Tour) -> str:
    return (tour.root / "shop" / "cart.py").read_text(encoding="utf-8")


def unittest_in(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=root, capture_output=True, text=True, timeout=30, check=False
    )


def test_the_sample_is_broken_in_one_place_and_quick(tour: Tour) -> None:
    started = time.monotonic()
    ran = unittest_in(tour.root)
    assert time.monotonic() - started < 3
    assert ran.returncode == 1
    assert "AssertionError: 8100 != 9000" in ran.stderr
    assert "failures=1" in ran.stderr
    assert "Ran 4 tests" in ran.stderr


def test_what_is_prepared_is_whole_and_has_no_leftovers(tour: Tour, tmp_path: Path) -> None:
    files = sorted(str(path.relative_to(tour.root)) for path in tour.root.rglob("*") if path.is_file())
    assert files == [
        "README.md",
        "shop/__init__.py",
        "shop/cart.py",
        "shop/receipt.py",
        "tests/__init__.py",
        "tests/test_cart.py",
        "tests/test_receipt.py",
    ]
    script = tour.script.read_text(encoding="utf-8")
    assert "%ROOT%" not in script
    assert "%PYTHON%" not in script
    assert tour.script.parent == tmp_path.resolve()
    assert str(tour.root) in script


def test_without_a_target_it_makes_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second = prepare(), prepare()
    assert first.root != second.root
    assert first.root.is_relative_to(tmp_path)
    assert first.rules == ("Bash(python3 -m unittest -q)",)


def test_where_there_is_no_python3_the_python_of_codeagent_stands_in(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    assert prepare(tmp_path, search_path=str(empty)).rules == (f"Bash({sys.executable} -m unittest -q)",)
    (empty / "python3").write_text("#!/bin/sh\n")
    (empty / "python3").chmod(0o755)
    assert prepare(tmp_path, search_path=str(empty)).rules == ("Bash(python3 -m unittest -q)",)


async def test_yes_mends_it_with_one_question(tour: Tour, session: Open) -> None:
    person = Person(Answer("yes"))
    told = session(person)
    await told.agent.say(tour.prompt)
    assert end(told).why == "done"
    assert [q.effect.title for q in person.permissions] == ["Edit shop/cart.py"]
    assert not person.permissions[0].effect.hunkwise, (
        "a yes to a part of it is an answer that the recording has none for"
    )
    assert ran(told) == ["read", "grep", "bash", "todo", "edit", "todo", "bash", "todo"]
    assert unittest_in(tour.root).returncode == 0
    assert "8100 != 9000" in said(told)[2]
    assert "4 tests pass" in said(told)[-1]
    assert str(tour.root) in said(told)[-1]
    assert told.agent.todo is not None
    assert told.agent.todo.items == (
        TodoItem("Take the discount once", "completed"),
        TodoItem("Run the tests again", "completed"),
    )


async def test_yes_with_words_is_heard(tour: Tour, session: Open) -> None:
    told = session(Person(Answer("yes", "add a test too")))
    await told.agent.say(tour.prompt)
    assert "I heard you: “add a test too”" in said(told)[3]
    assert "4 tests pass" in said(told)[-1]


async def test_do_not_ask_again_accepts_edits(tour: Tour, session: Open) -> None:
    told = session(Person(Answer("always")))
    await told.agent.say(tour.prompt)
    assert told.agent.mode == "acceptEdits"
    assert "4 tests pass" in said(told)[-1]


async def test_no_with_words_leads_to_another_proposal(tour: Tour, session: Open) -> None:
    person = Person(Answer("no", "leave total alone"), Answer("yes"))
    told = session(person)
    await told.agent.say(tour.prompt)
    assert "You say: “leave total alone”" in said(told)[3]
    assert BROKEN in cart(tour)
    assert len(person.permissions) == 2
    assert not person.permissions[1].effect.hunkwise
    assert "4 tests pass" in said(told)[-1]
    assert unittest_in(tour.root).returncode == 0


async def test_no_twice_changes_nothing(tour: Tour, session: Open) -> None:
    before = (tour.root / "shop" / "cart.py").read_bytes()
    told = session(Person(Answer("no"), Answer("no")))
    await told.agent.say(tour.prompt)
    assert said(told)[3].startswith("Not like that, then.")
    assert said(told)[-1].startswith("Fine: nothing was changed")
    assert (tour.root / "shop" / "cart.py").read_bytes() == before
    assert end(told).why == "done"


@pytest.mark.parametrize(
    ("mended", "end"),
    [
        ("        return self.subtotal()  # taken off once", "Mended: "),
        ("        return self.subtotal() + 1", "The tests still fail with your version."),
    ],
)
async def test_an_edited_change_is_judged_by_the_tests(tour: Tour, session: Open, mended: str, end: str) -> None:
    changed = {"file_path": "shop/cart.py", "old_string": BROKEN.rstrip("\n"), "new_string": mended}
    told = session(Person(Answer("yes", input=changed)))
    await told.agent.say(tour.prompt)
    assert said(told)[3].startswith("You changed my edit before it went in")
    assert mended in cart(tour)
    assert said(told)[-1].startswith(end)


async def test_a_tour_that_goes_astray_ends_politely(tour: Tour, session: Open) -> None:
    (tour.root / "tests" / "test_cart.py").unlink()
    told = session(Person())
    await told.agent.say(tour.prompt)
    assert said(told)[-1].startswith("This went another way")
    assert end(told).why == "done"


async def test_plan_mode_ends_politely(tour: Tour, session: Open) -> None:
    told = session(Person())
    told.agent.switch(mode="plan")
    await told.agent.say(tour.prompt)
    assert said(told)[-1].startswith("This went another way")


async def test_words_after_the_end_get_an_answer_every_time(tour: Tour, session: Open) -> None:
    told = session(Person())
    for words in (tour.prompt, "thanks", "and now?"):
        await told.agent.say(words)
        assert end(told).why == "done"
    assert said(told)[-1] == said(told)[-2]
    assert said(told)[-1].startswith("That is all this recording can say.")


async def test_a_killed_tour_goes_on_where_it_was(tour: Tour, session: Open) -> None:
    died = asyncio.Event()
    first = session(Person())

    def watch(event: Event) -> None:
        if isinstance(event, ToolFinished) and event.tool == "bash":
            died.set()

    first.agent.journal.watch(watch)
    turn = asyncio.create_task(first.agent.say(tour.prompt))
    await died.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await first.close()
    told = session(Person(), again=True)
    await told.agent.say("go on")
    assert any("8100 != 9000" in words for words in said(told))
    assert "4 tests pass" in said(told)[-1]


async def test_without_anybody_it_says_yes_aloud(tour: Tour, session: Open) -> None:
    person = Person(attended=False)
    told = session(Guide(person))
    await told.agent.say(tour.prompt)
    notes = [event.text for event in person.seen if isinstance(event, Noted) and event.topic == "tour"]
    assert notes[0] == "I'll read the cart, and look for everything that touches the discount."
    assert "Edit shop/cart.py? In a terminal this is your decision; here the tour says yes." in notes
    assert end(told).why == "done"
    assert "4 tests pass" in said(told)[-1]
    assert person.asked == []


def test_the_command_tells_the_story_without_a_terminal(program_env: dict[str, str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "codeagent", "demo"],
        env=program_env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    place = Path(ran.stderr.partition("\n")[0].removeprefix("The tour works in "))
    try:
        assert unittest_in(place).returncode == 0
        story = ("bash(command=", "There it is", "Edit shop/cart.py?", "And the tests again.", "Mended: ")
        places = [ran.stdout.index(words) for words in story]
        assert places == sorted(places)
        assert str(place) in ran.stdout
    finally:
        shutil.rmtree(place.parent)


def test_the_command_leaves_what_is_there_alone(tmp_path: Path, program_env: dict[str, str]) -> None:
    (tmp_path / "shop").mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "codeagent", "demo", str(tmp_path)],
        env=program_env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 2
    assert "already. Name another directory, or none." in ran.stderr
    assert list((tmp_path / "shop").iterdir()) == []


@pytest.mark.slow
async def test_at_its_pace_it_takes_less_than_20_seconds(tour: Tour, session: Open) -> None:
    told = session(Person(), pace=tour.pace)
    started = time.monotonic()
    await asyncio.wait_for(told.agent.say(tour.prompt), 20)
    assert time.monotonic() - started > 4
