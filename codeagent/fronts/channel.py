"""The control channel: questions put to the program on the other end of standard input, and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskPermission, AskPlan, AskUser, AskValve, Question
from codeagent.fronts.wire_lines import Line


class Channel:
    """Asks with `control_request` lines and waits for the `control_response` with the same id.

    `send` writes a line, `fresh` gives ids, `stop` interrupts the turn. What is no proper yes is a no.
    """

    def __init__(self, send: Callable[[Line], None], fresh: Callable[[], str], stop: Callable[[], None]) -> None:
        self._send, self._fresh, self._stop = send, fresh, stop
        self._waiting: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self.open = True
        """False once nobody can answer any more."""

    async def ask(self, question: Question) -> Answer:
        """Put a question; no at once when it cannot be put, or nobody is there."""
        asked = request_of(question)
        if asked is None or not self.open:
            return Answer("no")
        name = self._fresh()
        reply: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[name] = reply
        self._send({"type": "control_request", "request_id": name, "request": asked})
        try:
            given = await reply
        except asyncio.CancelledError:
            self._send({"type": "control_cancel_request", "request_id": name})
            raise
        finally:
            del self._waiting[name]
        if given.get("interrupt") is True:
            asyncio.get_running_loop().call_soon(self._stop)  # after the no is on record
        return answer_of(question, asked, given)

    def answered(self, response: Mapping[str, Any]) -> None:
        """A `control_response` came; one that nobody waits for is passed over."""
        reply = self._waiting.get(str(response.get("request_id", "")))
        if reply is None or reply.done():
            return
        given = response.get("response")
        if response.get("subtype") == "success" and isinstance(given, Mapping):
            reply.set_result(given)
        else:
            reply.set_result({"behavior": "deny", "message": str(response.get("error") or "")})

    def close(self) -> None:
        """Nobody answers any more: what waits is a no."""
        self.open = False
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_result({"behavior": "deny", "message": ""})

    def reply(self, name: object, given: Mapping[str, Any]) -> None:
        """Answer a request of the other side."""
        self._send(_response({"subtype": "success", "request_id": name, "response": dict(given)}))

    def refuse(self, name: object, why: str) -> None:
        """Answer a request of the other side with what is wrong with it."""
        self._send(_response({"subtype": "error", "request_id": name, "error": why}))


def _response(fields: Line) -> Line:
    return {"type": "control_response", "response": fields}


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
            call = _Call(effect.tool, dict(question.input), question.use_id, effect.title)
            about = {"decision_reason": verdict.why, "permission_suggestions": suggestions(question)}
            outside = next((touch.path for touch in effect.touches if touch.place != "inside"), "")
            return _can_use(call) | about | ({"blocked_path": outside} if outside else {})
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
        case AskValve():
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
