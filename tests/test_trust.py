"""Trust covers contents, says what is new, and is never given by a record that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.errors import UsageFault
from codeagent.trust import Trust, news


@pytest.fixture
def trust(home: Path) -> Trust:
    return Trust(home)


def put(project: Path, text: str) -> None:
    (project / ".agent").mkdir(exist_ok=True)
    (project / ".agent" / "settings.json").write_text(text)


def test_a_project_without_settings_needs_none(trust: Trust, project: Path) -> None:
    assert trust.covers(project)


def test_it_covers_contents_not_names(trust: Trust, project: Path) -> None:
    put(project, "{}")
    assert not trust.covers(project)
    trust.record(project, ["allow Bash(a)"])
    assert trust.covers(project)
    put(project, '{"x": 1}')
    assert not trust.covers(project)
    assert news(["allow Bash(a)", "allow Bash(b)"], trust.seen(project)) == ("allow Bash(a)", "new: allow Bash(b)")
    put(project, "{}")
    assert trust.covers(project)


def test_one_more_file_asks_again(trust: Trust, project: Path) -> None:
    put(project, "{}")
    trust.record(project)
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text("{}")
    assert not trust.covers(project)


@pytest.mark.parametrize("text", ["{", "[]", '{"files": 3}', "[" * 100_000, '{"files": {"a": 1}}'])
def test_a_broken_record_trusts_nothing_and_stays(
    trust: Trust, home: Path, project: Path, text: str
) -> None:
    put(project, "{}")
    record = home / "codeagent" / "trusted.json"
    record.parent.mkdir()
    record.write_text(text)
    assert not trust.covers(project)
    assert str(record) in trust.flaw()
    with pytest.raises(UsageFault, match="nothing is trusted"):
        trust.record(project)
    assert record.read_text() == text
