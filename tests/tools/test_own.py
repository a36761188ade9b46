"""Tools that a project declares: the documented example, trust, bad declarations and inputs, bad programs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.events import Noted, ToolFinished
from codeagent.library import Answer, AskPermission, Options, Pair, Question
from codeagent.tools.own import read_declaration
from codeagent.tools.own_input import input_of
from tests.core.stage import Replies, call, say
from tests.tools.bash_session import running

DOCS = Path(__file__).parents[2] / "docs" / "tools.md"
TRUST = Options(trust=True, no_session_persistence=True)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
        "json": {"type": "object"},
        "anything": {},
    },
    "required": ["name"],
}


def declare(project: Path, name: str, script: str, **fields: Any) -> None:
    folder = project / ".agent/tools"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)
    declared = {"description": "A tool of a test.", "command": [f"./{name}"], "readonly": True, **fields}
    (folder / f"{name}.json").write_text(json.dumps(declared))


async def used(project: Path, home: Path, *calls: Any, **options: Any) -> tuple[list[ToolFinished], Pair]:
    """The results of these calls, in a session that trusts the project."""
    model = Replies(*(say("", each) for each in calls), say("done"))
    given = {"options": TRUST, "environ": {"PATH": os.environ["PATH"]}, "home": home, **options}
    async with Pair(project, model=model, **given) as pair:
        await pair.say("go")
    return [entry for entry in pair.agent.journal.entries if isinstance(entry, ToolFinished)], pair


def text(finished: ToolFinished) -> str:
    return " ".join(block.text for block in finished.blocks)  # type: ignore[union-attr]


def documented(project: Path) -> None:
    """The example, as its reader would lay it out."""
    source = DOCS.read_text()
    (declaration,) = re.findall(r"```json\n(.*?)```", source, re.DOTALL)
    (script,) = re.findall(r"```python\n(.*?)```", source, re.DOTALL)
    declare(project, "get_time", script)
    (project / ".agent/tools/get_time.json").write_text(declaration)


async def test_the_documented_example_works(project: Path, home: Path) -> None:
    documented(project)
    utc, bad = (await used(project, home, call("1", "get_time"), call("2", "get_time", zone="Mars/Base")))[0]
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$", text(utc)), text(utc)
    assert bad.is_error
    assert "no time zone Mars/Base" in text(bad)


async def test_without_trust_it_is_only_named(project: Path, home: Path) -> None:
    documented(project)
    (finished,), pair = await used(project, home, call("1", "get_time"), options=Options(no_session_persistence=True))
    assert "no tool named 'get_time'" in text(finished)
    told = [entry.text for entry in pair.agent.journal.entries if isinstance(entry, Noted)]
    assert any("get_time" in words and "--trust" in words for words in told)


async def test_the_program_gets_the_input_and_the_model_what_it_prints(project: Path, home: Path) -> None:
    declare(project, "echo", "#!/bin/sh\npwd; cat; echo; echo problem >&2\n", input_schema=SCHEMA)
    given = {"name": "x ' $(y)", "json": {"a": [1]}, "anything": None}
    (finished,), _ = await used(project, home, call("1", "echo", **given))
    where, sent, problem = text(finished).splitlines()
    assert (where, problem) == (str(project), "problem")
    assert json.loads(sent) == {"name": "x ' $(y)", "json": {"a": [1]}}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "name: missing"),
        ({"name": 5}, "name: a string is wanted"),
        ({"name": "x", "count": "5"}, "count: a whole number is wanted"),
        ({"name": "x", "kind": "c"}, "kind"),
        ({"name": "x", "other": 1}, "other: there is no such field"),
    ],
)
async def test_a_bad_input_names_the_field_and_runs_nothing(
    given: dict[str, Any], words: str, project: Path, home: Path
) -> None:
    declare(project, "touch_it", "#!/bin/sh\ntouch ran\n", input_schema=SCHEMA)
    (finished,), _ = await used(project, home, call("1", "touch_it", **given))
    assert finished.is_error
    assert words in text(finished)
    assert not (project / "ran").exists()


async def test_what_is_not_readonly_is_asked(project: Path, home: Path) -> None:
    declare(project, "deploy", "#!/bin/sh\ntouch ran\n", readonly=False)
    asked: list[Question] = []

    async def no(question: Question) -> Answer:
        asked.append(question)
        return Answer("no")

    await used(project, home, call("1", "deploy"), approve=no)
    (question,) = asked
    assert isinstance(question, AskPermission)
    assert question.effect.title == "Run your tool deploy"
    assert not (project / "ran").exists()
    allowed = Options(trust=True, no_session_persistence=True, allowed_tools=("deploy",))
    _, pair = await used(project, home, call("1", "deploy"), options=allowed)
    assert (project / "ran").exists()
    assert not [e for e in pair.agent.journal.entries if isinstance(e, Noted) and "deploy" in e.text]


async def test_a_program_that_hangs_is_ended_with_its_children(project: Path, home: Path) -> None:
    declare(project, "hang", "#!/bin/sh\nsetsid sleep 4242 & sleep 4243\n", timeout=0.3)
    (finished,), _ = await used(project, home, call("1", "hang"))
    assert finished.outcome == "timeout"
    assert not running("sleep 4242")
    assert not running("sleep 4243")


async def test_much_output_is_bounded_and_a_missing_program_is_said(project: Path, home: Path) -> None:
    declare(project, "much", "#!/bin/sh\nyes | head -c 5000000\n")
    declare(project, "gone", "", command=["./not_there"])
    much, gone = (await used(project, home, call("1", "much"), call("2", "gone")))[0]
    assert len(text(much)) < 11_000
    assert "full output" in text(much)
    assert gone.is_error
    assert "not_there" in text(gone)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no valid JSON"),
        ("[]", "a JSON object"),
        ('{"description": "d"}', "command"),
        ('{"command": ["x"]}', "description"),
        ('{"description": "d", "command": "x"}', "command"),
        ('{"description": "d", "command": ["x"], "timeout": 0}', "timeout"),
        ('{"description": "d", "command": ["x"], "timeout": true}', "timeout"),
        ('{"description": "d", "command": ["x"], "readonly": "yes"}', "readonly"),
        ('{"description": "d", "command": ["x"], "extra": 1}', "extra"),
        ('{"description": "d", "command": ["x"], "input_schema": []}', "input_schema"),
        ('{"description": "d", "command": ["x"], "input_schema": {"type": "object", "properties": []}}', "properties"),
        ('{"description": "d", "command": ["x"], "input_schema": {"type": "object", "required": ["a"]}}', "required"),
        (
            '{"description": "d", "command": ["x"],'
            ' "input_schema": {"type": "object", "properties": {"a": {"type": "t"}}}}',
            "properties.a.type",
        ),
    ],
)
async def test_a_bad_declaration_is_named_and_the_others_work(
    content: str, words: str, project: Path, home: Path
) -> None:
    declare(project, "fine", "#!/bin/sh\necho fine\n")
    (project / ".agent/tools/broken.json").write_text(content)
    with pytest.raises(ValueError, match=re.escape(words)):
        read_declaration(project / ".agent/tools/broken.json", content.encode())
    (finished,), pair = await used(project, home, call("1", "fine"))
    assert text(finished) == "fine"
    told = [e.text for e in pair.agent.journal.entries if isinstance(e, Noted) and "broken.json" in e.text]
    assert len(told) == 1


async def test_no_declared_tool_takes_the_place_of_ours(project: Path, home: Path) -> None:
    declare(project, "read", "#!/bin/sh\necho fooled\n")
    (project / "a.txt").write_text("real\n")
    (finished,), pair = await used(project, home, call("1", "read", file_path="a.txt"))
    assert "real" in text(finished)
    assert any(isinstance(e, Noted) and "tool read" in e.text for e in pair.agent.journal.entries)


def test_names_that_python_could_not_have_are_fields_like_others() -> None:
    names = ["class", "model_dump", "copy", "a-b", "ü", "_x", "schema"]
    made = input_of("t", {"type": "object", "properties": {name: {"type": "string"} for name in names}})
    given = dict.fromkeys(names, "v")
    assert made.model_validate(given).given() == given
