"""What is trusted is what was seen: nothing that changes between the look, the question and the use acts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeagent.core.effects import Brought
from codeagent.options import Options
from codeagent.trust import Trust
from codeagent.wiring.consent import Consent
from codeagent.wiring.ground import Ground

HARMLESS = '{"permissions": {"deny": ["Bash(rm:*)"]}}'
WIDE = '{"permissions": {"allow": ["Bash"]}}'


class Place:
    """A project with settings, and the ground that a session finds on it."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project, self.home = project, home
        self.settings = self.put(".agent/settings.json", HARMLESS)

    def put(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def ground(self) -> Ground:
        environ = {"XDG_STATE_HOME": str(self.home / "state"), "PATH": "/usr/bin:/bin"}
        return Ground(Options(cwd=str(self.project)), environ, self.home)

    def accept(self) -> None:
        question = self.ground().consent.everything()
        self.ground().consent.keep(question, yes=True)


@pytest.fixture
def place(project: Path, home: Path) -> Place:
    return Place(project, home)


def test_it_is_gathered_once() -> None:
    times: list[int] = []

    def gather() -> Iterator[Brought]:
        times.append(1)
        yield Brought("/p/.mcp.json", "servers", ("start them",), "d1")

    consent = Consent(Path("/p"), Trust(Path("/nonexistent")), gather, given=False)
    assert consent.question() is not None
    assert list(consent.notes())
    assert consent.everything().items
    assert times == [1]


def test_settings_that_change_after_they_were_read_are_not_accepted_with_what_was_read(place: Place) -> None:
    """Files that want nothing are accepted without a question: as they were when they wanted nothing."""
    ground = place.ground()
    place.settings.write_text(WIDE)
    assert ground.consent.question() is None
    later = place.ground()
    assert not later.trusted
    assert not [rule for rule in later.rules().all if rule.kind == "allow"]
    asked = later.consent.question()
    assert asked is not None
    assert [item.words for item in asked.items] == [("allow Bash",)]


def test_a_yes_is_for_what_was_shown(place: Place) -> None:
    place.settings.write_text(WIDE)
    ground = place.ground()
    question = ground.consent.question()
    assert question is not None
    place.settings.write_text('{"permissions": {"allow": ["Bash", "Edit(//**)"]}}')
    assert not ground.answered(question, yes=True).trusted
    place.settings.write_text(WIDE)
    assert place.ground().trusted


def test_layers_that_were_not_read_are_not_accepted(place: Place) -> None:
    place.settings.write_text(WIDE)
    environ = {"XDG_STATE_HOME": str(place.home / "state")}
    only_mine = Ground(Options(cwd=str(place.project), setting_sources="user"), environ, place.home)
    assert only_mine.consent.question() is None
    assert not place.ground().trusted


def test_what_another_wrote_into_a_file_is_not_trusted_because_we_wrote_there_too(place: Place) -> None:
    place.accept()
    ground = place.ground()
    assert ground.trusted
    ground.remember("Bash(make)")
    assert place.ground().trusted
    local = place.project / ".agent/settings.local.json"
    local.write_text(WIDE)
    ground.remember("Bash(ls)")
    assert "Bash(ls)" in json.loads(local.read_text())["permissions"]["allow"]
    assert not place.ground().trusted


def test_a_tool_whose_program_changed_is_left_out(place: Place) -> None:
    place.put(".agent/tools/tell.json", '{"description": "d", "command": ["./tell"], "readonly": true}')
    program = place.put(".agent/tools/tell", "#!/bin/sh\necho then\n")
    place.accept()
    assert place.ground().own_tools.names == ["tell"]
    program.write_text("#!/bin/sh\necho now\n")
    ground = place.ground()
    assert ground.own_tools.names == []
    assert any("its program is not what you trusted" in words for words in ground.own_tools.problems)


def test_the_bytes_that_were_judged_are_the_ones_that_are_read(place: Place) -> None:
    definition = "---\nname: helper\ndescription: then\n---\n"
    file = place.put(".agent/agents/helper.md", definition)
    tool = place.put(".agent/tools/tell.json", '{"description": "then", "command": ["true"]}')
    place.accept()
    ground = place.ground()
    assert ground.own_agents.kinds["helper"].description == "then"
    assert ground.own_tools.names == ["tell"]
    assert ground.consent.content(file) == definition.encode()
    file.write_text(definition.replace("then", "now"))
    tool.unlink()
    tool.symlink_to(place.put("elsewhere.json", '{"description": "then", "command": ["true"]}'))
    assert ground.consent.content(file) is None
    assert ground.consent.content(tool) is None, "a link leads to what nobody judged"
    assert "helper" not in place.ground().own_agents.kinds
