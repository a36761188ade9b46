"""The one door: the order of its reasons, what it asks, what it stores, what it records."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from codeagent.core.effects import (
    Answer,
    Effect,
    Permit,
    Refusal,
    Revised,
    Risk,
    ShellPart,
    ShellReading,
    Touch,
)
from codeagent.core.events import Decided, Switched
from codeagent.core.messages import Text, ToolUse
from codeagent.core.modes import MODES, mode_named
from codeagent.core.views import Diff, Hunk, Plain
from tests.core.stage import Person, Stage, call, rules, say

USE = ToolUse("u", "x", {})


def shell(
    *commands: str, readonly: bool = False, plain: bool = True, risk: Risk = Risk.HIGH, forbidden: str = ""
) -> Effect:
    parts = tuple(ShellPart(c, tuple(c.split()), readonly, Risk.LOW if readonly else risk) for c in commands)
    line = " && ".join(commands)
    return Effect(
        "bash", line, f"Run {line}", Risk.LOW if readonly else risk, Plain(line),
        shell=ShellReading(parts, plain, forbidden=forbidden), cwd="/p",
    )  # fmt: skip


def file(tool: str, access: str, place: str = "inside") -> Effect:
    risk = Risk.LOW if access == "read" else Risk.MEDIUM if place == "inside" else Risk.HIGH
    touch = Touch("/p/a.py", access, place, "a.py")  # type: ignore[arg-type]
    return Effect(tool, "a.py", f"{tool} a.py", risk, Plain(""), (touch,))


READ, EDIT = file("read", "read"), file("edit", "write")
OUTSIDE, PROTECTED = file("read", "read", "outside"), file("edit", "write", "protected")
AWAY = file("edit", "write", "outside")
LS, TEST, RM = shell("ls", readonly=True), shell("pytest -q", risk=Risk.MEDIUM), shell("rm x")
TODO = Effect("todo", "", "Note", Risk.LOW, Plain(""), free=True)


@pytest.mark.parametrize(
    ("mode", "effect", "decision"),
    [
        *[(mode, READ, "allow") for mode in MODES],
        *[(mode, TODO, "allow") for mode in MODES],
        *[(mode, LS, "allow") for mode in MODES],
        *[(mode, PROTECTED, "deny" if mode == "plan" else "ask") for mode in MODES if mode != "plan"],
        ("default", EDIT, "ask"), ("acceptEdits", EDIT, "allow"), ("plan", EDIT, "deny"), ("auto", EDIT, "allow"),
        ("dontAsk", EDIT, "ask"), ("bypass", EDIT, "allow"),
        ("default", TEST, "ask"), ("acceptEdits", TEST, "ask"), ("plan", TEST, "deny"), ("auto", TEST, "allow"),
        ("bypass", TEST, "allow"),
        ("default", RM, "ask"), ("auto", RM, "ask"), ("bypass", RM, "allow"), ("plan", RM, "deny"),
        ("default", OUTSIDE, "ask"), ("acceptEdits", OUTSIDE, "ask"), ("auto", OUTSIDE, "ask"),
        ("bypass", OUTSIDE, "allow"),
        *[(mode, AWAY, "deny" if mode == "plan" else "ask") for mode in MODES if mode != "bypass"],
        ("bypass", AWAY, "allow"),
    ],
)  # fmt: skip
def test_what_each_mode_lets_pass(mode: str, effect: Effect, decision: str) -> None:
    stage = Stage(mode=mode)
    assert stage.gate.judge(effect).decision == decision


@pytest.mark.parametrize("mode", MODES)
def test_the_built_in_deny_binds_in_every_mode_and_beats_every_rule(mode: str) -> None:
    stage = Stage(mode=mode, rules=rules(allow=["Bash"]))
    verdict = stage.gate.judge(shell("rm -rf /", forbidden="It removes the root of the file system"))
    assert (verdict.decision, verdict.by) == ("deny", "builtin")


def test_deny_beats_ask_beats_allow() -> None:
    stage = Stage(rules=rules(allow=["Bash(git:*)"], ask=["Bash(git push:*)"], deny=["Bash(git push --force:*)"]))
    assert stage.gate.judge(shell("git commit")).decision == "allow"
    assert stage.gate.judge(shell("git push")).decision == "ask"
    assert stage.gate.judge(shell("git push --force")).decision == "deny"
    assert stage.gate.judge(shell("git commit", "git push --force")).decision == "deny"


def test_every_part_of_a_compound_must_be_covered() -> None:
    stage = Stage(rules=rules(allow=["Bash(git commit:*)"]))
    assert stage.gate.judge(shell("git commit", "rm x")).decision == "ask"
    told = stage.gate.judge(shell("git commit", "rm x")).parts
    assert [(text, decision) for text, decision, _ in told] == [("git commit", "allow"), ("rm x", "ask")]


def test_a_line_that_is_not_plain_is_asked_even_with_a_rule() -> None:
    stage = Stage(rules=rules(allow=["Bash(echo:*)"]))
    assert stage.gate.judge(shell("echo $(rm x)", plain=False)).decision == "ask"


async def test_the_answer_is_recorded_with_its_words() -> None:
    stage = Stage(person=Person(Answer("yes", "but gently")))
    permit = await stage.gate.permit(USE, EDIT)
    assert isinstance(permit, Permit)
    assert permit.words == "but gently"
    decided = stage.of(Decided)[0]
    assert (decided.decision, decided.by, decided.words, decided.title) == (
        "allow",
        "dialog",
        "but gently",
        "edit a.py",
    )


async def test_no_is_a_result_with_the_persons_words() -> None:
    stage = Stage(say("", call("a", "change")), say("ok"), person=Person(Answer("no", "use the other file")))
    await stage.agent.say("go")
    told = stage.results()["a"]
    assert told.is_error
    assert told.outcome == "refused"
    assert isinstance(told.blocks[0], Text)
    assert "use the other file" in told.blocks[0].text


async def test_do_not_ask_again_stores_exactly_what_was_shown_and_matches_next_time() -> None:
    stage = Stage(person=Person(Answer("always")))
    await stage.gate.permit(USE, shell("make build"))
    question = stage.person.permissions[0]
    assert stage.stored == list(question.always_rules)
    decided = stage.of(Decided)[0]
    assert (decided.stored, decided.where) == (question.always_rules, "settings.local.json:1")
    assert all(rule in question.always for rule in question.always_rules)
    stage.rules = rules(allow=stage.stored)
    assert stage.gate.judge(shell("make build")).decision == "allow"
    assert stage.gate.judge(shell("make clean")).decision == "ask"


async def test_do_not_ask_again_on_an_edit_accepts_edits_for_the_session() -> None:
    stage = Stage(person=Person(Answer("always")))
    await stage.gate.permit(USE, EDIT)
    assert stage.stored == []
    assert stage.agent.mode == "acceptEdits"
    assert stage.of(Switched)[0].mode == "acceptEdits"
    await stage.gate.permit(USE, EDIT)
    assert len(stage.person.asked) == 1


@pytest.mark.parametrize("effect", [PROTECTED, shell("echo $(x)", plain=False)])
async def test_do_not_ask_again_is_not_offered_where_it_could_not_hold(effect: Effect) -> None:
    stage = Stage()
    await stage.gate.permit(USE, effect)
    assert stage.person.permissions[0].always == ""


async def test_one_question_at_a_time_and_its_answer_counts_for_the_next() -> None:
    stage = Stage(person=Person(Answer("always")))
    await asyncio.gather(stage.gate.permit(USE, EDIT), stage.gate.permit(USE, EDIT))
    assert len(stage.person.asked) == 1


async def test_where_nobody_is_there_what_would_be_asked_is_refused() -> None:
    stage = Stage(person=Person(attended=False))
    refusal = await stage.gate.permit(USE, EDIT)
    assert isinstance(refusal, Refusal)
    assert refusal.nobody
    assert stage.of(Decided)[0].nobody
    assert stage.person.asked == []


async def test_dont_ask_refuses_because_the_mode_wishes_so() -> None:
    stage = Stage(mode="dontAsk")
    refusal = await stage.gate.permit(USE, EDIT)
    assert isinstance(refusal, Refusal)
    assert not refusal.nobody
    assert stage.person.asked == []


async def test_a_policy_that_forbids_says_so() -> None:
    stage = Stage(rules=rules(deny=["Edit"]))
    refusal = await stage.gate.permit(USE, EDIT)
    assert isinstance(refusal, Refusal)
    assert "Policy forbids" in refusal.reason
    decided = stage.of(Decided)[0]
    assert (decided.rule, decided.where) == ("Edit", "settings.json:1")


async def test_an_edited_change_is_planned_again_and_not_asked_twice() -> None:
    person = Person(Answer("yes", "smaller", {"answer": "mine"}))
    stage = Stage(say("", call("a", "change", answer="yours")), say("ok"), person=person)
    await stage.agent.say("go")
    assert stage.change.ran == ["mine"]
    assert len(person.asked) == 1
    assert stage.of(Decided)[0].revised == {"answer": "mine"}
    told = stage.results()["a"].blocks
    assert any(isinstance(b, Text) and "smaller" in b.text for b in told)
    assert any(isinstance(b, Text) and "mine" in b.text for b in told)


async def test_an_edited_change_does_not_pass_a_deny_rule() -> None:
    stage = Stage(rules=rules(deny=["Edit"]))
    assert isinstance(await stage.gate.permit(USE, EDIT, Revised({}, "")), Refusal)


PARTS = structs.replace(EDIT, view=Diff("a", tuple(Hunk(n, n, ("-x", "+y")) for n in (1, 9, 20)), 3, 3), hunkwise=True)


@pytest.mark.parametrize(
    ("effect", "hunks", "permitted"),
    [
        (PARTS, (2, 0), (0, 2)),
        (PARTS, (0, 1, 2), None),
        (PARTS, (1, 7, -1), (1,)),
        (PARTS, (), "refused"),
        (PARTS, (3,), "refused"),
        (structs.replace(PARTS, hunkwise=False), (0,), "refused"),
    ],
)
async def test_a_yes_to_a_part_permits_that_part(effect: Effect, hunks: tuple[int, ...], permitted: object) -> None:
    stage = Stage(person=Person(Answer("yes", hunks=hunks)))
    answer = await stage.gate.permit(USE, effect)
    assert (answer.hunks if isinstance(answer, Permit) else "refused") == permitted
    (decided,) = stage.of(Decided)
    assert decided.decision == ("deny" if permitted == "refused" else "allow")
    assert decided.hunks == (None if permitted == "refused" else permitted)


@pytest.mark.parametrize(
    ("name", "mode"), [("yolo", "bypass"), ("DENY", "dontAsk"), ("manual", "default"), ("nosuch", "")]
)
def test_modes_have_the_names_that_people_use(name: str, mode: str) -> None:
    assert mode_named(name) == mode
