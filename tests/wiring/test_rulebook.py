"""The rules follow their files, also when one of them breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.core.effects import Effect, Risk, ShellPart, ShellReading
from codeagent.core.judging import judge
from codeagent.core.path_patterns import Anchors
from codeagent.core.views import Plain
from codeagent.settings import Settings
from codeagent.trust import Trust
from codeagent.wiring.rulebook import Rulebook


class Book:
    """A rulebook over a user's and a project's file."""

    def __init__(self, project: Path, home: Path) -> None:
        self.user = home / ".config" / "codeagent" / "settings.json"
        self.shared = project / ".agent" / "settings.json"
        anchors = Anchors(str(project), str(home), str(project))
        self.put(self.user, {"permissions": {"deny": ["Bash(rm:*)"]}})

        def load() -> Settings:
            return Settings.load(project, home, {}, None, True, home / "managed.json")

        self.rulebook = Rulebook(load, anchors, project, Trust(home), strict=False)

    def put(self, path: Path, content: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def decides(self, command: str, mode: str = "bypass") -> str:
        part = ShellPart(command, tuple(command.split()), False, Risk.HIGH)
        effect = Effect("bash", command, command, Risk.HIGH, Plain(""), shell=ShellReading((part,), True))
        return judge(effect, self.rulebook.rules(), mode).decision


@pytest.fixture
def book(project: Path, home: Path) -> Book:
    return Book(project, home)


def test_a_rule_counts_as_soon_as_it_is_written_and_no_longer(book: Book) -> None:
    assert book.decides("make") == "allow"
    book.put(book.shared, {"permissions": {"deny": ["Bash(make:*)"]}})
    assert book.decides("make") == "deny"
    book.shared.unlink()
    assert book.decides("make") == "allow"


def test_denies_of_a_file_that_broke_stay_until_it_is_mended(book: Book) -> None:
    book.put(book.user, "{")
    assert (book.decides("rm x"), book.decides("make")) == ("deny", "ask")
    book.put(book.shared, {"permissions": {"deny": ["Bash(make:*)"]}})
    assert (book.decides("rm x"), book.decides("make")) == ("deny", "deny"), "also when another one changes meanwhile"
    told = book.rulebook.problems()
    assert len(told) == 1
    assert str(book.user) in told[0]
    assert book.rulebook.problems() == ()
    book.put(book.user, {"permissions": {}})
    assert (book.decides("rm x"), book.decides("ls x")) == ("allow", "allow")


def test_a_remembered_rule_stands_in_the_file_and_survives_a_reading(book: Book, project: Path) -> None:
    where = book.rulebook.remember("Bash(make all)")
    assert where == f"{project}/.agent/settings.local.json:4"
    assert book.decides("make all", "default") == "allow"
    book.put(book.user, {"permissions": {"deny": ["Bash(x)"]}})
    assert book.decides("make all", "default") == "allow"
    assert book.decides("make clean", "default") == "ask"
