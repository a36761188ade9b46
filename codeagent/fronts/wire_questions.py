"""Questions to a person as the schema's `can_use_tool`, and what a program answers to them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskPermission, AskPlan, AskSummary, AskTrust, AskUser, AskValve, Question
from codeagent.fronts.calls import asker


class _Call(Struct):
    """A question as the use of a tool: what the other side may allow, deny or fill in."""

    tool: str
    input: dict[str, Any]
    use_id: str
    title: str


def request_of(question: Question) -> dict[str, Any] | None:
    """The question as the schema's `can_use_tool`; None for those that it has no form for."""
    match question:
        case AskPermission(effect=effect, verdict=verdict):
            call = _Call(effect.tool, dict(question.input), question.use_id, f"{asker(question)}{effect.title}")
            outside = next((touch.path for touch in effect.touches if touch.place != "inside"), None)
            return _can_use(call) | {
                "decision_reason": verdict.why,
                "permission_suggestions": suggestions(question),
                "blocked_path": outside,
            }
        case AskUser():
            options = [{"label": choice.label, "description": choice.description} for choice in question.choices]
            asked = {
                "question": question.question,
                "header": question.header,
                "options": options,
                "multiSelect": question.many,
            }
            return _can_use(_Call("ask_user", {"questions": [asked]}, question.use_id, question.question))
        case AskPlan(plan=plan):
            call = _Call("present_plan", {"plan": plan}, question.use_id, "Go ahead with this plan")
            return _can_use(call) | {"permission_suggestions": [ACCEPT_EDITS]}
        case AskValve() | AskSummary() | AskTrust():
            return None


def _can_use(call: _Call) -> dict[str, Any]:
    return {
        "subtype": "can_use_tool",
        "tool_name": call.tool,
        "input": call.input,
        "tool_use_id": call.use_id or None,
        "title": clean(call.title),
    }


ACCEPT_EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def suggestions(question: AskPermission) -> list[dict[str, Any]]:
    """What "don't ask again" would store, in the schema's form."""
    if question.always and not question.always_rules:
        return [ACCEPT_EDITS]
    rules = []
    for text in question.always_rules:
        tool, _, rest = text.partition("(")
        rules.append({"toolName": tool} | ({"ruleContent": rest.removesuffix(")")} if rest else {}))
    return [{"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}] if rules else []


def answer_of(question: Question, asked: Mapping[str, Any], given: Mapping[str, Any]) -> Answer:
    """What the other side said. An `updatedInput` that differs is a change; a suggestion sent back means always."""
    if given.get("behavior") != "allow":
        return Answer("no", str(given.get("message") or ""))
    changed = given.get("updatedInput")
    updated = changed if isinstance(changed, dict) and changed != asked["input"] else None
    if isinstance(question, AskUser):
        return _worded(question, updated or {})
    if isinstance(question, AskPlan):
        plan = (updated or {}).get("plan")
        updated = {"plan": plan} if isinstance(plan, str) and plan.strip() else None
    always = _same(given.get("updatedPermissions"), asked.get("permission_suggestions"))
    return Answer("always" if always else "yes", input=updated)


def _worded(question: AskUser, updated: Mapping[str, Any]) -> Answer:
    answers = updated.get("answers")
    words = answers.get(question.question) if isinstance(answers, Mapping) else None
    if isinstance(words, Sequence) and not isinstance(words, str):
        words = ", ".join(map(str, words))
    return Answer("yes", words) if isinstance(words, str) and words else Answer("no")


def _same(given: Any, offered: Any) -> bool:
    """Whether what was offered, and nothing wider, comes back."""
    return bool(given) and given == offered
