"""The memory as its owner handles it: edited by hand and taken over, switched off, listed by the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.core.errors import UsageFault
from codeagent.core.notebook import Topic
from codeagent.memory.layout import Layout
from codeagent.memory.starting import starting_message
from codeagent.memory.topics import Topics
from codeagent.setting_changes import remember_rule, remember_setting
from codeagent.wiring.remembering import Shelf


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    return Topics(Layout(tmp_path), b"k" * 32, "s1", lambda: 0.0, lambda _words: ())


@pytest.fixture
def memory(tmp_path: Path) -> Shelf:
    return Shelf(Layout(tmp_path), b"k" * 32, tmp_path, {}, str, on=True)


def saved(topics: Topics, text: str = "Use tabs.") -> None:
    topics.carry_out(topics.planned_save(Topic("Code style", "how code looks", text)))


def test_what_the_owner_wrote_by_hand_is_taken_over(topics: Topics, memory: Shelf) -> None:
    saved(topics)
    path = memory.path("Code style")
    path.write_text(path.read_text().replace("Use tabs.", "Use blanks.").replace("how code looks", "style of code"))
    assert "by hand" in memory.read("Code style")
    assert memory.adopt(path) == ""
    assert "by hand" not in memory.read("Code style")
    assert "Use blanks." in memory.read("Code style")
    assert "style of code" in memory.index()
    saved(topics, "Use both.")  # the tool may go on with it
    assert memory.adopt(path) == ""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("---\nname", "name", "front matter"),
        ("name: Code style", "name: Another", "belongs to another.md"),
        ("how code looks", "x" * 200, "longer than 150"),
    ],
)
def test_what_cannot_be_taken_over_is_said_and_left(
    topics: Topics, memory: Shelf, old: str, new: str, problem: str
) -> None:
    saved(topics)
    path = memory.path("Code style")
    text = path.read_text().replace(old, new, 1)
    path.write_text(text)
    assert problem in memory.adopt(path)
    assert path.read_text() == text


def test_a_topic_that_is_not_there_cannot_be_edited(memory: Shelf) -> None:
    with pytest.raises(UsageFault, match="no memory topic"):
        memory.path("nothing")
    assert memory.path("").name == "MEMORY.md"


def test_a_switch_is_stored_beside_the_rules(tmp_path: Path) -> None:
    remember_rule(tmp_path, "Bash(ls)")
    where = remember_setting(tmp_path, "memory", False)
    assert json.loads(Path(where).read_text()) == {"permissions": {"allow": ["Bash(ls)"]}, "memory": False}


def test_init_names_the_file_that_is_there(tmp_path: Path) -> None:
    assert "into CLAUDE.md." in starting_message(tmp_path)
    (tmp_path / "AGENTS.md").write_text("x")
    told = starting_message(tmp_path, "mind the docs")
    assert "into AGENTS.md, which is there already." in told
    assert told.endswith("mind the docs")
