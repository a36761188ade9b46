"""Questions on paper, and what a typed line answers them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskPermission, AskPlan, AskSummary, AskTrust, AskUser, AskValve, Question
from codeagent.core.explain import details
from codeagent.core.hunks import counts, place
from codeagent.core.views import Diff
from codeagent.fronts import calls
from codeagent.fronts.rewriting import editable

HOW_TO_PICK = "Type the numbers to take (for example 1 3; all; n for none) and Enter. Enter alone goes back."
"""How to choose among hunks."""


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
            edit = ", e changes it first" if editable(question.input) else ""
            parts = ", h takes it in parts" if question.effect.hunkwise else ""
            keys = f"y, n; w tells why{edit}{parts}"
            return f"Type a number (or {keys}) and Enter. Words may follow, for example: 3 use another name"
        case AskPlan():
            keys = "y means 2, n means 3; e changes the plan first"
            return f"Type a number ({keys}) and Enter. Words may follow, for example: 3 split step two"
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


def wish(question: Question, line: str) -> str:
    """What a line that is no answer wants first: `why`, `edit`, `hunks`; empty for nothing that there is."""
    word = line.strip().lower()
    if isinstance(question, AskPermission) and question.effect.hunkwise and word in ("h", "hunks"):
        return "hunks"
    if isinstance(question, AskPermission) and word in ("w", "why"):
        return "why"
    return "edit" if word in ("e", "edit") else ""


def explained(question: AskPermission) -> tuple[str, ...]:
    """Why it is asked, part by part, and what would change it."""
    return tuple(clean(words) for words in details(question.effect, question.verdict))


def hunks(question: AskPermission) -> Iterator[tuple[str, str]]:
    """The hunks of a change with their numbers, and how to choose, as (role, text) lines."""
    view = question.effect.view
    if not isinstance(view, Diff):
        return
    for number, hunk in enumerate(view.hunks, 1):
        added, removed = counts(hunk)
        yield "strong", f"  {number} of {len(view.hunks)}, {place(hunk, 'old')}  +{added} -{removed}"
        _title, *lines = calls.diff(replace(view, hunks=(hunk,)))
        yield from ((role, f"  {line}") for role, line in lines)
    yield "muted", HOW_TO_PICK


def picked(question: AskPermission, line: str) -> Answer | None:
    """What the line takes of the hunks; None when it does not say. Words may follow."""
    many = len(question.effect.view.hunks) if isinstance(question.effect.view, Diff) else 0
    match = re.fullmatch(r"(all|no?|none|\d+(?:[\s,]+\d+)*)(?:[\s,.:;]+(\D.*))?", line.strip(), re.IGNORECASE)
    if match is None:
        return None
    which, words = match[1].lower(), match[2] or ""
    if which.startswith("n"):
        return Answer("no", words)
    chosen = {int(number) - 1 for number in re.findall(r"\d+", which)} if which != "all" else set(range(many))
    return Answer("yes", words, hunks=tuple(sorted(chosen))) if chosen <= set(range(many)) else None


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
