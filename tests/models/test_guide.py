"""The guide tells the truth: its scripts can be read, and its first run gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codeagent.core.errors import ModelError
from codeagent.models import faulty, script_reader
from tests.core.stage import Person
from tests.demo.visit import said, visit

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


async def test_the_first_run_reads_the_readme_and_tells_the_time(project: Path, program_env: dict[str, str]) -> None:
    (project / "README.md").write_text("# Corner shop\n\nMore.\n", encoding="utf-8")
    person = Person()
    house = visit(project, RECORDINGS / "readme.script", ("Bash(date:*)",), person, program_env)
    await house.agent.say("What does the README say, and what time is it?")
    await house.close()
    assert re.fullmatch(r"The README begins with “# Corner shop”, and it is \d\d:\d\d\.", said(house)[-1])
    assert person.asked == []
