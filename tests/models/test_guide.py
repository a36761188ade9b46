"""The guide tells the truth: its scripts can be read, and its first run gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codeagent.core.agent import Agent, Outside
from codeagent.core.errors import ModelError
from codeagent.core.events import AssistantSaid, Opened
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.rules import Rules, parse
from codeagent.core.toolset import Toolset
from codeagent.core.valves import Limits
from codeagent.models import faulty, script_reader
from codeagent.models.scripted import Scripted
from tests.core.stage import Numbers, Person, Ticks
from tests.demo.workshop import tools

RECORDINGS = Path(__file__).parent.parent / "recordings"
GUIDE = (Path(__file__).parent.parent.parent / "docs" / "scripts.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^```\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
SCRIPTS = [text for text in FENCED if re.match(r"say|--- ", text)]


@pytest.mark.parametrize("text", SCRIPTS, ids=range(len(SCRIPTS)))
def test_each_script_of_the_guide_can_be_read(text: str) -> None:
    assert script_reader.parse(text, "guide").steps


def test_the_first_script_is_the_recording() -> None:
    assert (RECORDINGS / "readme.script").read_text(encoding="utf-8").partition("\n")[2] == SCRIPTS[0]


def test_the_table_names_every_line_that_there_is() -> None:
    named = set(re.findall(r"^\| `(\w+) ", GUIDE, re.MULTILINE))
    with pytest.raises(ModelError) as caught:
        script_reader.parse("shout x", "s")
    known = str(caught.value).partition("one of ")[2].partition(", or ---")[0].split(", ")
    assert named == set(known)


def test_the_fault_plan_of_the_guide_is_one() -> None:
    text = re.search(r"faulty:(.*?):script:", GUIDE)
    assert text
    assert [fault.kind for fault in faulty.plan(text[1])] == ["busy", "cut"]
    assert set(re.findall(r"^\| `(\w+)` \| \w", GUIDE.partition("## Faults")[2], re.MULTILINE)) == set(faulty.KINDS)


async def test_the_first_run_reads_the_readme_and_tells_the_time(project: Path) -> None:
    (project / "README.md").write_text("# Corner shop\n\nMore.\n", encoding="utf-8")
    person = Person()
    toolset = Toolset(tools(project), lambda error, tool: f"{tool}: {error}")
    journal = Journal([Opened("s", str(project), ("sys",), toolset.schemas(), "script:readme", 1000)])
    rules = Rules((parse("Bash(date:*)", "allow"),))
    gate = Gate(person, journal.append, lambda: rules, lambda rule: "")
    model = Scripted(RECORDINGS / "readme.script")
    await Agent(journal, model, toolset, gate, Limits(), Outside(Ticks(), Numbers(), person)).say("What and when?")
    last = [e for e in journal.entries if isinstance(e, AssistantSaid)][-1]
    assert re.fullmatch(r"The README begins with “# Corner shop”, and it is \d\d:\d\d\.", last.text)
    assert person.asked == []
