"""What a typed line answers."""

from __future__ import annotations

import pytest

from codeagent.core.effects import (
    Answer,
    AskPermission,
    AskPlan,
    AskUser,
    AskValve,
    Choice,
    Effect,
    Question,
    Risk,
    Verdict,
)
from codeagent.core.views import Diff, Hunk, Shell
from codeagent.fronts.repl import questions

VERDICT = Verdict("ask", "mode", "No rule covers it.")
RUN = Effect("bash", "rm x", "Run rm x", Risk.HIGH, Shell("rm x\u202e; ls\nsecond \x1b[2Jline"), cwd="/p/sub")
PERMISSION = AskPermission("t1", RUN, VERDICT)
ALWAYS = AskPermission("t1", RUN, VERDICT, always="don't ask again for bash(rm *)", always_rules=("bash(rm *)",))
VALVE = AskValve("steps", "Stopped after 50 steps. Go on?", 50, 100)
ONE = AskUser("t1", "Which one?", "Colour", (Choice("red", "warm"), Choice("blue")))
MANY = AskUser("t1", "Which ones?", choices=(Choice("red"), Choice("blue"), Choice("green")), many=True)
PLAN = AskPlan("1. Read a.py\n2. Change it")
FREE = AskUser("t1", "What name?")


@pytest.mark.parametrize(
    ("question", "line", "answer"),
    [
        (PERMISSION, "1", Answer("yes")),
        (PERMISSION, " y ", Answer("yes")),
        (PERMISSION, "Yes, but only once", Answer("yes", "but only once")),
        (PERMISSION, "2", Answer("no")),
        (PERMISSION, "n", Answer("no")),
        (PERMISSION, "2 use another name", Answer("no", "use another name")),
        (PERMISSION, "no. use another", Answer("no", "use another")),
        (PERMISSION, "3", None),
        (PERMISSION, "always", None),
        (PERMISSION, "", None),
        (PERMISSION, "yesterday", None),
        (PERMISSION, "12", None),
        (PERMISSION, "not sure", None),
        (ALWAYS, "2", Answer("always")),
        (ALWAYS, "always", Answer("always")),
        (ALWAYS, "a", None),
        (ALWAYS, "3 use another name", Answer("no", "use another name")),
        (VALVE, "1", Answer("yes")),
        (VALVE, "n", Answer("no")),
        (VALVE, "go on", None),
        (ONE, "2", Answer("yes", "blue")),
        (ONE, "3", Answer("yes", "3")),
        (ONE, "1,2", Answer("yes", "1,2")),
        (ONE, "neither, take green", Answer("yes", "neither, take green")),
        (MANY, "1, 3", Answer("yes", "red, green")),
        (MANY, "1 4", Answer("yes", "1 4")),
        (PLAN, "1", Answer("always")),
        (PLAN, "2 mind b", Answer("yes", "mind b")),
        (PLAN, "y", Answer("yes")),
        (PLAN, "3 split step 2", Answer("no", "split step 2")),
        (PLAN, "n", Answer("no")),
        (PLAN, "4", None),
        (FREE, "cart", Answer("yes", "cart")),
        (FREE, " ", None),
    ],
)
def test_what_a_line_answers(question: Question, line: str, answer: Answer | None) -> None:
    assert questions.answer(question, line) == answer


def told(question: Question) -> str:
    return "\n".join(text for _, text in questions.asked(question))


def test_a_command_is_shown_in_full_and_cannot_hide_anything() -> None:
    text = told(ALWAYS)
    assert "Run rm x? (high risk)" in text
    assert "$ rm x\\u202e; ls\n  $ second \\x1b[2Jline" in text
    assert "in /p/sub" in text
    assert "asked because: No rule covers it." in text
    assert "2  Yes, and don't ask again for bash(rm *)" in text
    assert "3  No" in text


def test_an_edit_is_shown_as_a_diff() -> None:
    view = Diff("shop/cart.py", (Hunk(30, 30, (" def total", "-  a", "+  b", " end")),), 1, 1)
    text = told(AskPermission("t1", Effect("edit", "x", "Edit shop/cart.py", Risk.MEDIUM, view), VERDICT))
    assert "   30   def total\n     31 -   a\n     31 +   b\n     32   end" in text


def test_choices_have_their_numbers() -> None:
    assert "Colour: Which one?\n  1  red - warm\n  2  blue\n" in told(ONE)
    assert "1  Go on, up to 100\n  2  Stop" in told(VALVE)


def test_a_plan_is_shown_whole() -> None:
    text = told(PLAN)
    assert "  1. Read a.py\n  2. Change it" in text
    assert "  3  Keep planning" in text


def test_w_tells_why_and_what_would_change_it() -> None:
    verdict = Verdict(
        "ask", "mode", "No rule.", parts=(("rm x\x1b", "ask", "it may do anything"),), ways=("Your yes.",)
    )
    asked = AskPermission("t1", RUN, verdict)
    assert questions.answer(asked, "w") is None
    assert (questions.wish(asked, " Why "), questions.wish(asked, "what"), questions.wish(VALVE, "w")) == (
        "why",
        "",
        "",
    )
    words = "\n".join(questions.explained(asked))
    assert "ask    rm x\\x1b  it may do anything" in words
    assert "  - Your yes." in words


PARTS = Diff("a.py", tuple(Hunk(10 * n, 10 * n, (f"-old {n}", f"+new {n}")) for n in (1, 2, 3)), 3, 3)
CHANGE = AskPermission("t1", Effect("edit", "a.py", "Edit a.py", Risk.MEDIUM, PARTS, hunkwise=True), VERDICT)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1 3", Answer("yes", hunks=(0, 2))),
        ("2, keep the name", Answer("yes", "keep the name", hunks=(1,))),
        (" 3,1 ", Answer("yes", hunks=(0, 2))),
        ("all", Answer("yes", hunks=(0, 1, 2))),
        ("n", Answer("no")),
        ("None. leave it", Answer("no", "leave it")),
        ("4", None),
        ("0", None),
        ("y", None),
        ("1 and 3", Answer("yes", "and 3", hunks=(0,))),
        ("1x", None),
    ],
)
def test_hunks_are_taken_by_their_numbers(line: str, answer: Answer | None) -> None:
    assert questions.picked(CHANGE, line) == answer


def test_hunks_are_shown_with_their_numbers() -> None:
    text = "\n".join(line for _, line in questions.hunks(CHANGE))
    assert "  2 of 3, line 20  +1 -1\n     20 - old 2\n     20 + new 2\n  3 of 3" in text
    assert questions.wish(CHANGE, "Hunks") == questions.wish(CHANGE, "h") == "hunks"
    assert "h takes it in parts" in told(CHANGE)
    assert questions.wish(ALWAYS, "h") == ""
    assert "h takes" not in told(ALWAYS)
