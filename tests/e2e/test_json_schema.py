"""Answers of a wanted shape: through the real program against a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.program import said as words_of
from tests.loopback import Loopback, call, say

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"$ref": "#/$defs/money"}, "items": {"type": "array", "minItems": 1}},
    "required": ["total"],
    "additionalProperties": False,
    "$defs": {"money": {"type": "number", "minimum": 0}},
}
TEXT = json.dumps(SCHEMA)

Started = Callable[[Loopback], Program]


@pytest.fixture
def started(project: Path, program_env: dict[str, str]) -> Started:
    return lambda server: Program(project, program_env, server.url)


def test_the_answer_comes_as_a_value_and_the_model_was_told_the_schema(started: Started) -> None:
    with Loopback([call("glob", pattern="*"), say('{"total": 3.5}')]) as server:
        done = started(server).run("-p", "sum it up", "--output-format", "json", "--json-schema", TEXT)
    assert done.code == 0, done.err
    assert done.result["structured_output"] == {"total": 3.5}
    assert done.result["result"] == '{"total": 3.5}'
    assert done.result["subtype"] == "success"
    assert len(server.requests) == 2, "a fitting answer costs no further request"
    assert '"additionalProperties":false' in words_of(server.requests[0].body)


def test_as_text_it_is_the_value_alone_also_out_of_a_fence(started: Started) -> None:
    with Loopback([say('It is this:\n```json\n{"total": 3.5,\n "items": ["é"]}\n```\n')]) as server:
        done = started(server).run("-p", "sum it up", "--jsonSchema", TEXT)
    assert (done.code, done.out) == (0, '{"total":3.5,"items":["é"]}\n')


def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_reason(started: Started, project: Path) -> None:
    (project / "schema.json").write_text(TEXT)
    with Loopback([say("It is 3.5."), say('{"total": "3.5"}'), say('{"total": 3.5}')]) as server:
        done = started(server).headless("sum it up", "--json-schema", "schema.json")
    assert done.code == 0, done.err
    assert done.result["structured_output"] == {"total": 3.5}
    assert done.result["num_turns"] == 3
    assert "no JSON" in words_of(server.requests[1].body)
    assert "$.total: '3.5' is not of type 'number'" in words_of(server.requests[2].body)
    assert any("Asked again: 2 of 3" in line.get("content", "") for line in done.lines)


def test_after_three_more_tries_it_is_a_failure_of_its_own_kind(started: Started) -> None:
    with Loopback([say("It is 3.5.")] * 4) as server:
        done = started(server).headless("sum it up", "--json-schema", TEXT)
    assert done.code == 1
    assert done.result["subtype"] == "error_max_structured_output_retries"
    assert done.result["is_error"] is True
    assert "structured_output" not in done.result
    assert "result" not in done.result
    assert "does not match the JSON schema" in done.err


def test_a_session_that_goes_on_is_told_too(started: Started) -> None:
    with Loopback([say("It is a shop."), say('{"total": 1}')]) as server:
        program = started(server)
        assert program.run("-p", "what is it?").code == 0
        done = program.run("-p", "-c", "sum it up", "--output-format", "json", "--json-schema", TEXT)
    assert done.result["structured_output"] == {"total": 1}
    assert server.requests[1].body["tools"] == server.requests[0].body["tools"]


def test_each_turn_of_a_conversation_with_a_program_has_its_own(started: Started) -> None:
    lines = [json.dumps({"type": "user", "message": {"role": "user", "content": text}}) for text in ("one", "two")]
    with Loopback([say('{"total": 1}'), say("two"), say('{"total": 2}')]) as server:
        argv = ("--input-format", "stream-json", "--output-format", "stream-json", "--json-schema", TEXT)
        done = started(server).run(*argv, stdin="\n".join(lines).encode() + b"\n")
    results = [line for line in done.lines if line["type"] == "result"]
    assert [result["structured_output"] for result in results] == [{"total": 1}, {"total": 2}], done.err


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"type": "objekt"}', "'objekt'"),
        ('{"type": ', "expecting value in line 1"),
        ('{"$ref": "https://example.com/schema"}', "'https://example.com/schema' leads nowhere within it"),
        ('{"$ref": "#/$defs/missing"}', "'#/$defs/missing' leads nowhere within it"),
        ('{"pattern": "("}', "'(' is not a 'regex'"),
        ("missing.json", "'missing.json' is neither a JSON object nor a file"),
        ("list.json", "a JSON object is wanted"),
        ("picture.png", "no text in UTF-8"),
    ],
)
def test_a_bad_schema_is_a_mistake_told_in_a_line(
    schema: str, words: str, project: Path, program_env: dict[str, str]
) -> None:
    (project / "list.json").write_text("[1]")
    (project / "picture.png").write_bytes(b"\x89PNG\xff")
    done = Program(project, program_env).run("-p", "x", "--model", "offline", "--json-schema", schema)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("codeagent: argument --json-schema: ")
    assert done.err.count("\n") == 1
    assert words in done.err


def test_without_p_there_is_no_answer_to_shape(project: Path, program_env: dict[str, str]) -> None:
    done = Program(project, program_env).run("--json-schema", "{}")
    assert done.code == 2
    assert "needs -p" in done.err
