"""The tour: every answer that a person can give leads through the real loop and gate to an honest end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeagent.core.agent import Agent, Outside
from codeagent.core.effects import Answer
from codeagent.core.events import AssistantSaid, Opened, TextDelta, ToolFinished, ToolStarted, TurnEnded
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.ports import Front
from codeagent.core.rules import Rules, parse
from codeagent.core.toolset import Toolset
from codeagent.core.valves import Limits
from codeagent.core.views import TodoItem
from codeagent.demo.approver import YesAloud
from codeagent.demo.tour import Tour, prepare
from codeagent.models.scripted import Scripted
from tests.core.stage import Numbers, Person, Ticks
from tests.demo.workshop import tools

BROKEN = "        return round(self.subtotal() * (1 - self.discount))\n"


@dataclass
class Session:
    """A session of the tour in front of somebody."""

    tour: Tour
    agent: Agent

    def said(self) -> list[str]:
        return [e.text for e in self.agent.journal.entries if isinstance(e, AssistantSaid) and e.text]

    def ran(self) -> list[str]:
        return [e.tool for e in self.agent.journal.entries if isinstance(e, ToolStarted)]

    def cart(self) -> str:
        return (self.tour.root / "shop" / "cart.py").read_text(encoding="utf-8")

    def end(self) -> TurnEnded:
        last = self.agent.journal.entries[-1]
        assert isinstance(last, TurnEnded)
        return last


def session(tour: Tour, front: Front, pace: float = 0) -> Session:
    toolset = Toolset(tools(tour.root), lambda error, tool: f"{tool}: {error}")
    journal = Journal([Opened("s", str(tour.root), ("sys",), toolset.schemas(), f"script:{tour.script}", 1000)])
    journal.watch(front.see)
    rules = Rules(tuple(parse(rule, "allow", "the tour") for rule in tour.rules))
    gate = Gate(front, journal.append, lambda: rules, lambda rule: "settings.local.json:1")
    outside = Outside(Ticks(), Numbers(), front)
    return Session(tour, Agent(journal, Scripted(tour.script, pace=pace), toolset, gate, Limits(), outside))


@pytest.fixture
def tour(tmp_path: Path) -> Tour:
    return prepare(tmp_path, search_path=os.environ["PATH"])


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


async def test_yes_mends_it_with_one_question(tour: Tour) -> None:
    person = Person(Answer("yes"))
    told = session(tour, person)
    await told.agent.say(tour.prompt)
    assert told.end().why == "done"
    assert [q.effect.title for q in person.permissions] == ["Edit shop/cart.py"]
    assert told.ran() == ["read", "grep", "bash", "todo", "edit", "todo", "bash", "todo"]
    assert unittest_in(tour.root).returncode == 0
    assert "8100 != 9000" in told.said()[2]
    assert "4 tests pass" in told.said()[-1]
    assert str(tour.root) in told.said()[-1]
    assert told.agent.todo is not None
    assert told.agent.todo.items == (
        TodoItem("Take the discount once", "completed"),
        TodoItem("Run the tests again", "completed"),
    )


async def test_yes_with_words_is_heard(tour: Tour) -> None:
    told = session(tour, Person(Answer("yes", "add a test too")))
    await told.agent.say(tour.prompt)
    assert "I heard you: “add a test too”" in told.said()[3]
    assert "4 tests pass" in told.said()[-1]


async def test_do_not_ask_again_accepts_edits(tour: Tour) -> None:
    told = session(tour, Person(Answer("always")))
    await told.agent.say(tour.prompt)
    assert told.agent.mode == "acceptEdits"
    assert "4 tests pass" in told.said()[-1]


async def test_no_with_words_leads_to_another_proposal(tour: Tour) -> None:
    person = Person(Answer("no", "leave total alone"), Answer("yes"))
    told = session(tour, person)
    await told.agent.say(tour.prompt)
    assert "You say: “leave total alone”" in told.said()[3]
    assert BROKEN in told.cart()
    assert len(person.permissions) == 2
    assert "4 tests pass" in told.said()[-1]
    assert unittest_in(tour.root).returncode == 0


async def test_no_twice_changes_nothing(tour: Tour) -> None:
    before = (tour.root / "shop" / "cart.py").read_bytes()
    told = session(tour, Person(Answer("no"), Answer("no")))
    await told.agent.say(tour.prompt)
    assert told.said()[3].startswith("Not like that, then.")
    assert told.said()[-1].startswith("Fine: nothing was changed")
    assert (tour.root / "shop" / "cart.py").read_bytes() == before
    assert told.end().why == "done"


@pytest.mark.parametrize(
    ("mended", "end"),
    [
        ("        return self.subtotal()  # taken off once", "Mended: "),
        ("        return self.subtotal() + 1", "The tests still fail with your version."),
    ],
)
async def test_an_edited_change_is_judged_by_the_tests(tour: Tour, mended: str, end: str) -> None:
    changed = {"file_path": "shop/cart.py", "old_string": BROKEN.rstrip("\n"), "new_string": mended}
    told = session(tour, Person(Answer("yes", input=changed)))
    await told.agent.say(tour.prompt)
    assert told.said()[3].startswith("You changed my edit before it went in")
    assert mended in told.cart()
    assert told.said()[-1].startswith(end)


async def test_a_tour_that_goes_astray_ends_politely(tour: Tour) -> None:
    (tour.root / "tests" / "test_cart.py").unlink()
    told = session(tour, Person())
    await told.agent.say(tour.prompt)
    assert told.said()[-1].startswith("This went another way")
    assert told.end().why == "done"


async def test_plan_mode_ends_politely(tour: Tour) -> None:
    told = session(tour, Person())
    told.agent.switch(mode="plan")
    await told.agent.say(tour.prompt)
    assert told.said()[-1].startswith("This went another way")


async def test_words_after_the_end_get_an_answer_every_time(tour: Tour) -> None:
    told = session(tour, Person())
    for words in (tour.prompt, "thanks", "and now?"):
        await told.agent.say(words)
        assert told.end().why == "done"
    assert told.said()[-1] == told.said()[-2]
    assert told.said()[-1].startswith("That is all this recording can say.")


async def test_a_killed_tour_goes_on_where_it_was(tour: Tour) -> None:
    whole = session(tour, Person())
    await whole.agent.say(tour.prompt)
    entries = whole.agent.journal.entries
    cut = next(i for i, e in enumerate(entries) if isinstance(e, ToolFinished) and e.tool == "bash")
    again = session(prepare(tour.script.parent), Person())
    journal = Journal(entries[: cut + 1])
    again.agent = Agent(
        journal,
        Scripted(tour.script),
        Toolset(tools(tour.root), lambda error, tool: str(error)),
        Gate(Person(), journal.append, lambda: Rules((parse(tour.rules[0], "allow"),)), lambda rule: ""),
        Limits(),
        Outside(Ticks(), Numbers(), Person()),
    )
    await again.agent.say("go on")
    assert "8100 != 9000" in again.said()[2]
    assert "4 tests pass" in again.said()[-1]


async def test_without_anybody_it_says_yes_aloud(tour: Tour) -> None:
    lines: list[str] = []
    person = Person(attended=False)
    told = session(tour, YesAloud(person, lines.append))
    await told.agent.say(tour.prompt)
    assert lines == ["Edit shop/cart.py? In a terminal this is your decision; here the tour says yes."]
    assert told.end().why == "done"
    assert "4 tests pass" in told.said()[-1]
    assert person.asked == []
    assert any(isinstance(event, TextDelta) for event in person.seen)


@pytest.mark.slow
async def test_at_its_pace_it_takes_less_than_20_seconds(tour: Tour) -> None:
    told = session(tour, Person(), tour.pace)
    started = time.monotonic()
    await asyncio.wait_for(told.agent.say(tour.prompt), 20)
    assert time.monotonic() - started > 4
