"""Questions on paper, and what a typed line answers them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskPermission, AskPlan, AskSummary, AskTrust, AskUser, AskValve, Question
from codeagent.core.explain import details
from codeagent.fronts import calls


def asked(question: Question) -> Iterator[tuple[str, str]]:
    """The question with its numbered answers, as (role, text) lines."""
    match question:
        case AskPermission():
            yield from calls.permission(question)
        case AskValve(words=words):
            yield "warning", clean(words)
        case AskSummary(summary=summary, words=words):
            yield "text", clean(summary)
            yield "strong", f"Go on with this summary? {clean(words)}"
        case AskPlan(plan=plan):
            yield "strong", "Go ahead with this plan?"
            yield from (("text", f"  {line}") for line in clean(plan).split("\n"))
        case AskTrust():
            yield from calls.trust(question)
        case AskUser():
            head = f"{clean(question.header)}: " if question.header else ""
            yield "strong", f"{head}{clean(question.question)}"
    for number, choice in enumerate(calls.choices(question), 1):
        yield "text", f"  {number}  {choice}"
    yield "muted", how(question)


def how(question: Question) -> str:
    """How to answer, in a line."""
    match question:
        case AskPermission():
            return "Type a number (or y, n; w tells why) and Enter. Words may follow, for example: 3 use another name"
        case AskPlan():
            return "Type a number (y means 2, n means 3) and Enter. Words may follow, for example: 3 split step two"
        case AskValve() | AskTrust():
            return "Type a number (or y, n) and Enter."
        case AskSummary():
            return "Type a number (or y, n) and Enter; e opens it in your editor."
        case AskUser(choices=()):
            return "Type your answer and Enter."
        case AskUser(many=True):
            return "Type numbers (1,3) or your own words, and Enter."
        case AskUser():
            return "Type a number or your own words, and Enter."


def explained(question: Question, line: str) -> tuple[str, ...]:
    """Why it is asked, part by part, and what would change it; nothing when the line does not ask for that."""
    if not isinstance(question, AskPermission) or line.strip().lower() not in ("w", "why"):
        return ()
    return tuple(clean(words) for words in details(question.effect, question.verdict))


def answer(question: Question, line: str) -> Answer | None:
    """What the line says; None when it does not answer the question. `always` to a summary means: change it first."""
    line = line.strip()
    if not line:
        return None
    if isinstance(question, AskUser):
        return _worded(question, line)
    word, _, rest = line.partition(" ")
    word = word.rstrip(",.:;").lower()
    offered = calls.choices(question)
    last = str(len(offered))
    words = rest.strip()
    if isinstance(question, AskPlan):
        return _about_plan(word, words)
    if word in ("1", "y", "yes"):
        return Answer("yes", words)
    if word in (last, "n", "no"):
        return Answer("no", words)
    if len(offered) == 3 and word in ("2", "always", *(("e", "edit") if isinstance(question, AskSummary) else ())):
        return Answer("always", words)
    return None


def _about_plan(word: str, words: str) -> Answer | None:
    """A bare yes is the careful one: edits are asked."""
    if word in ("1", "always"):
        return Answer("always", words)
    if word in ("2", "y", "yes"):
        return Answer("yes", words)
    return Answer("no", words) if word in ("3", "n", "no") else None


def _worded(question: AskUser, line: str) -> Answer:
    """Numbers stand for the choices; anything else is the answer itself."""
    picked = re.fullmatch(r"\d+(?:[\s,]+\d+)*", line)
    numbers = [int(n) for n in re.findall(r"\d+", line)] if picked else []
    known = all(0 < n <= len(question.choices) for n in numbers)
    if numbers and known and (question.many or len(numbers) == 1):
        return Answer("yes", ", ".join(question.choices[n - 1].label for n in numbers))
    return Answer("yes", line)
