"""A question whose plan or call the person rewrites before answering it. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from codeagent.core.effects import Answer, AskPermission, AskPlan, Question
from codeagent.core.views import Plain, Shell
from codeagent.fronts.rewriting import editable, edited


def wording(question: Question) -> str | None:
    """What can be rewritten: a plan, or the text of a call; None where there is nothing."""
    match question:
        case AskPlan(plan=plan):
            return plan
        case AskPermission(input=given):
            found = editable(given)
            return found[1] if found else None
        case _:
            return None


def reworded(question: Question, text: str) -> Question:
    """The question about this text instead. An editor's newline at the end of a text that had none is dropped."""
    old = wording(question)
    if old is None:
        return question
    text = text if old.endswith("\n") else text.removesuffix("\n")
    match question:
        case AskPermission(effect=effect, input=given) if text != old and (found := editable(given)):
            view = Shell(text, effect.view.cwd) if isinstance(effect.view, Shell) else Plain(text)
            shown = replace(effect, view=view, hunkwise=False)
            return replace(question, effect=shown, input=edited(given, found[0], text), always="", always_rules=())
        case AskPlan() if text.strip():
            return replace(question, plan=text)
        case _:
            return question


def settled(question: Question, first: Question, answer: Answer) -> Answer:
    """The answer with what was changed since the question was asked `first`."""
    if answer.verdict == "no":
        return answer
    match question, first:
        case AskPlan(plan=plan), AskPlan(plan=old) if plan != old:
            return replace(answer, input={"plan": plan})
        case AskPermission(input=given), AskPermission(input=old_input) if given != old_input:
            return replace(answer, input=given)
        case _:
            return answer
