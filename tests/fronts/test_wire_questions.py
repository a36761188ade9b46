"""Questions on the wire: what a program is asked, and what counts as a yes."""

from __future__ import annotations

from codeagent.core.effects import Answer, AskPermission, AskPlan, AskUser, AskValve, Choice, Effect, Risk, Verdict
from codeagent.core.views import Plain
from codeagent.fronts.wire_questions import ACCEPT_EDITS, answer_of, request_of

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
