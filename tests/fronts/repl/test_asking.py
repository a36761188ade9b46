"""A question on paper until it is answered: rewritten in an editor or typed anew, or taken in parts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from codeagent.core.effects import Answer, AskPermission, AskPlan, AskSummary, Effect, Question, Risk, Verdict
from codeagent.core.views import Shell
from codeagent.fronts.repl.asking import Asking
from codeagent.fronts.repl.paper import Paper, Terminal
from tests.fronts.repl.test_questions import CHANGE

PLAN = AskPlan("1. Read a.py\n2. Change it", "t1")
RUN = AskPermission(
    "t1",
    Effect("bash", "make", "Run make", Risk.MEDIUM, Shell("make"), cwd="/p"),
    Verdict("ask", "mode", "No rule."),
    {"command": "make", "background": False},
    "don't ask again for Bash(make)",
    ("Bash(make)",),
)
EDITED = replace(CHANGE, input={"file_path": "a.py", "old_string": "old\n", "new_string": "new\n"})


async def asked(question: Question, *lines: str, environ: Mapping[str, str] | None = None) -> tuple[Answer, str]:
    """The answer after these lines, and the paper."""
    page = io.StringIO()
    left = list(lines)

    async def reply() -> str | None:
        return left.pop(0) if left else None

    asking = Asking(Paper(page, Terminal()), reply, environ or {}, typed=environ is not None)
    answer = await asking.ask(question)
    assert left == []
    return answer, page.getvalue()


@pytest.mark.parametrize(
    ("question", "lines", "answer"),
    [
        (CHANGE, ["h", "1 3"], Answer("yes", hunks=(0, 2))),
        (CHANGE, ["hunks", "seven", "2 but mind b"], Answer("yes", "but mind b", hunks=(1,))),
        (CHANGE, ["h", "", "y"], Answer("yes")),
        (CHANGE, ["h", "n"], Answer("no")),
        (CHANGE, ["h"], Answer("no")),
        (RUN, ["h", "1"], Answer("yes")),
        (PLAN, ["e", "1. Look", "2. Ask", ".", "y"], Answer("yes", input={"plan": "1. Look\n2. Ask"})),
        (PLAN, ["e", "Mine", ".", "e", "Mine, better", ".", "1 go"], Answer("always", "go", {"plan": "Mine, better"})),
        (PLAN, ["e", "Mine", ".", "n"], Answer("no")),
        (PLAN, ["edit", ".", "2"], Answer("yes")),
        (PLAN, ["e", "Mine"], Answer("no")),
        (PLAN, ["e", "", ".", "y"], Answer("yes")),
        (RUN, ["e", "make -n", ".", "1"], Answer("yes", input={"command": "make -n", "background": False})),
        (RUN, ["e", "make", ".", "2"], Answer("always")),
        (
            EDITED,
            ["e", "mine", ".", "h", "1"],
            Answer("yes", input={"file_path": "a.py", "old_string": "old\n", "new_string": "mine\n"}),
        ),
    ],
)
async def test_lines_that_are_no_answer_lead_to_one(question: Question, lines: list[str], answer: Answer) -> None:
    assert (await asked(question, *lines))[0] == answer


async def test_a_changed_plan_is_shown_before_it_is_approved() -> None:
    _, paper = await asked(PLAN, "e", "1. Look first", ".", "y")
    assert paper.count("Go ahead with this plan?") == 2
    assert "  1. Look first\n" in paper.rpartition("Go ahead with this plan?")[2]


async def test_dont_ask_again_is_not_offered_for_what_was_changed() -> None:
    _, paper = await asked(RUN, "e", "rm -r x", ".", "1")
    assert "don't ask again" not in paper.rpartition("Run make?")[2]
    assert "$ rm -r x" in paper


@pytest.fixture
def editor(tmp_path: Path) -> Mapping[str, str]:
    """An editor that adds a line."""
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf "\\n3. Test it\\n" >>"$1"\n')
    script.chmod(0o700)
    return {"EDITOR": str(script)}


async def test_the_editor_opens_where_one_is_set(editor: Mapping[str, str]) -> None:
    answer, _ = await asked(PLAN, "e", "y", environ=editor)
    assert answer == Answer("yes", input={"plan": "1. Read a.py\n2. Change it\n3. Test it"})
    answer, _ = await asked(AskSummary("Short.", "It saves 2k."), "e", environ=editor)
    assert answer.words == "Short.\n3. Test it\n"


async def test_an_editor_that_fails_leaves_the_plan(tmp_path: Path) -> None:
    answer, paper = await asked(PLAN, "e", "y", environ={"EDITOR": str(tmp_path / "none")})
    assert answer == Answer("yes")
    assert "cannot be started" in paper
