"""Messages and control lines on standard input: results, answers, and lines that make no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codeagent.core.effects import Answer, AskPermission, AskPlan, AskUser, AskValve, Choice, Effect, Risk, Verdict
from codeagent.core.views import Plain
from codeagent.fronts.channel import ACCEPT_EDITS, answer_of, request_of
from codeagent.fronts.conversing import Conversing
from codeagent.options import Options
from tests.core.stage import Reply, call, say
from tests.fronts.stand import connecting

TALK = Options(print=True, input_format="stream-json", output_format="stream-json")
ASKING = replace(TALK, permission_prompt_tool="stdio")


def user(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def control(subtype: str, **fields: Any) -> dict[str, Any]:
    return {"type": "control_request", "request_id": subtype, "request": {"subtype": subtype, **fields}}


async def talk(tmp: Path, options: Options, lines: list[Any], *replies: Reply) -> tuple[int, list[dict[str, Any]]]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (tmp / "in").write_text(text + "\n")
    connect, _ = connecting(tmp, *replies)
    with (tmp / "in").open("rb") as in_, (tmp / "out").open("wb") as out, (tmp / "err").open("wb") as err:
        code = await Conversing(options, in_.fileno(), out.fileno(), err.fileno()).run(connect)
    return code, [json.loads(line) for line in (tmp / "out").read_text("utf-8").splitlines()]


def of(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


async def test_each_message_has_its_result(tmp_path: Path) -> None:
    code, lines = await talk(tmp_path, TALK, [user("a"), user("b")], say("A."), say("B."))
    results = of(lines, "result")
    assert code == 0
    assert [(line["result"], line["num_turns"]) for line in results] == [("A.", 1), ("B.", 1)]
    assert results[1]["total_cost_usd"] == pytest.approx(0.02)
    assert lines[-1] == results[-1]


async def test_messages_join_a_turn_after_a_tool_call(tmp_path: Path) -> None:
    _, lines = await talk(tmp_path, TALK, [user("a"), user("b")], say("", call("1")), say("Both."))
    assert [line["result"] for line in of(lines, "result")] == ["Both."]


async def test_messages_can_be_echoed(tmp_path: Path) -> None:
    _, lines = await talk(tmp_path, replace(TALK, replay_user_messages=True), [user("a")], say("A."))
    assert [line["isReplay"] for line in of(lines, "user")] == [True]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "Line 1 of standard input is no JSON"),
        ("[" * 100_000, "Line 1 of standard input is no JSON"),
        ("3", "is no JSON object"),
        ({"type": "greeting"}, "has type 'greeting'"),
        ({"type": "user"}, "says nothing"),
        ({"type": "user", "message": {"content": [{"type": "text", "text": " "}]}}, "says nothing"),
    ],
    ids=range(6),
)
async def test_a_line_that_makes_no_sense_ends_the_run(tmp_path: Path, line: Any, words: str) -> None:
    code, lines = await talk(tmp_path, TALK, [line, user("a")])
    assert code == 2
    assert words in lines[-1]["errors"][0]


async def test_nothing_said_is_an_error(tmp_path: Path) -> None:
    code, lines = await talk(tmp_path, TALK, [control("initialize")])
    assert code == 2
    assert lines[-1]["type"] == "result"


async def test_requests_are_answered(tmp_path: Path) -> None:
    asked = [
        control("initialize"),
        control("set_permission_mode", mode="acceptEdits"),
        control("set_permission_mode", mode="nosuch"),
        control("rewind_files"),
        control("initialize", hooks={"PreToolUse": []}),
        user("a"),
    ]
    _, lines = await talk(tmp_path, TALK, asked, say("A."))
    answers = [line["response"] for line in of(lines, "control_response")]
    assert [answer["subtype"] for answer in answers] == ["success", "success", "error", "error", "error"]
    assert answers[1]["response"] == {"mode": "acceptEdits"}
    assert "no mode 'nosuch'" in answers[2]["error"]
    assert "Hooks" in answers[4]["error"]


async def test_when_standard_input_ends_a_question_is_a_no(tmp_path: Path) -> None:
    code, lines = await talk(tmp_path, ASKING, [user("a")], say("", call("1", "change")), say("It was refused."))
    assert of(lines, "result")[0]["permission_denials"]
    assert code in (0, 4)


EFFECT = Effect("bash", "make", "Run make", Risk.HIGH, Plain("make"))
QUESTION = AskPermission(
    "u1", EFFECT, Verdict("ask", "mode", "why"), {"command": "make"}, "do not ask for Bash(make)", ("Bash(make)",)
)


def test_a_permission_question_on_the_wire() -> None:
    asked = request_of(QUESTION)
    assert asked is not None
    assert (asked["tool_name"], asked["input"], asked["tool_use_id"]) == ("bash", {"command": "make"}, "u1")
    (offer,) = asked["permission_suggestions"]
    assert offer["rules"] == [{"toolName": "Bash", "ruleContent": "make"}]
    allow = {"behavior": "allow", "updatedInput": {"command": "make"}}
    assert answer_of(QUESTION, asked, allow) == Answer("yes")
    assert answer_of(QUESTION, asked, allow | {"updatedPermissions": [offer]}) == Answer("always")
    wider = {**offer, "rules": [{"toolName": "Bash"}]}
    assert answer_of(QUESTION, asked, allow | {"updatedPermissions": [wider]}) == Answer("yes")
    changed = {"behavior": "allow", "updatedInput": {"command": "make all"}}
    assert answer_of(QUESTION, asked, changed) == Answer("yes", input={"command": "make all"})
    assert answer_of(QUESTION, asked, {"behavior": "deny", "message": "no"}) == Answer("no", "no")
    assert answer_of(QUESTION, asked, {"behaviour": "allow"}) == Answer("no")


def test_other_questions_on_the_wire() -> None:
    question = AskUser("u", "Which?", "", (Choice("a"), Choice("b")))
    asked = request_of(question)
    assert asked is not None
    given = {"behavior": "allow", "updatedInput": {**asked["input"], "answers": {"Which?": "b"}}}
    assert answer_of(question, asked, given) == Answer("yes", "b")
    assert answer_of(question, asked, {"behavior": "allow", "updatedInput": asked["input"]}) == Answer("no")
    plan = AskPlan("1. do it")
    asked = request_of(plan)
    assert asked is not None
    given = {"behavior": "allow", "updatedInput": {"plan": "1. do less"}, "updatedPermissions": [ACCEPT_EDITS]}
    assert answer_of(plan, asked, given) == Answer("always", input={"plan": "1. do less"})
    assert request_of(AskValve("steps", "50 steps", 50, 100)) is None
