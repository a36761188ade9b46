"""Decisions in plain words: each part, the rule and its place, and what would change it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.effects import Effect, Risk, ShellPart, ShellReading, Touch
from codeagent.core.explain import settled, suggestions, told, ways
from codeagent.core.judging import judge
from codeagent.core.modes import MODES
from codeagent.core.rules import Rules
from codeagent.core.views import Plain
from tests.core.stage import ANCHORS, rules

NONE = Rules((), ANCHORS)


def line(*commands: str, reads: tuple[str, ...] = (), plain: bool = True, forbidden: str = "") -> Effect:
    parts = tuple(ShellPart(c, tuple(c.split()), c in reads, Risk.LOW if c in reads else Risk.HIGH) for c in commands)
    text = " && ".join(commands)
    shell = ShellReading(parts, plain, "" if plain else "it contains a command substitution", forbidden)
    risk = max(part.risk for part in parts)
    return Effect("bash", text, f"Run {text}", risk, Plain(text), shell=shell, cwd="/p")


def edit(place: str = "inside") -> Effect:
    touch = Touch("/p/a.py", "write", place, "a.py", "may hold credentials" if place == "protected" else "")  # type: ignore[arg-type]
    return Effect("edit", "a.py", "Edit a.py", Risk.MEDIUM, Plain(""), (touch,))


def explained(effect: Effect, known: Rules = NONE, mode: str = "default") -> str:
    verdict = settled(judge(effect, known, mode), mode)
    return "\n".join(told(effect, replace(verdict, ways=ways(effect, verdict, known, mode)), mode))


def test_every_part_is_named_with_its_reason() -> None:
    words = explained(line("git diff HEAD~1", "rm -rf build", reads=("git diff HEAD~1",)))
    assert (
        "Asked, in mode default. No rule covers it, and its risk is high: it may do more than read, build or test."
        in words
    )
    assert "allow  git diff HEAD~1  it only reads" in words
    assert "ask    rm -rf build" in words
    assert "Bash(rm -rf build)" in words
    assert "Another mode: /mode bypass." in words


def test_a_rule_is_named_with_its_place_and_how_to_undo_it() -> None:
    words = explained(line("rm x"), rules(deny=["Bash(rm:*)"]))
    assert "Refused" in words
    assert "Take Bash(rm:*) out of settings.json:1. An allow rule does not beat it." in words


def test_nothing_changes_what_is_never_run() -> None:
    words = explained(line("rm -rf /", forbidden="it removes the root"), rules(allow=["Bash"]), "bypass")
    assert "It removes the root. This is never run, in any mode." in words
    assert "Nothing: no rule, no mode and no answer lets this run." in words


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto"])
def test_a_rule_that_ends_at_the_project_is_named_and_the_one_that_would_do(mode: str) -> None:
    away = Effect(
        "edit", "/o/a", "Edit /o/a", Risk.HIGH, Plain(""), (Touch("/o/a", "write", "outside", "/o/a"),), cwd="/p"
    )
    words = explained(away, rules(allow=["Edit", "Edit(**)"]), mode)
    assert (
        f"Asked, in mode {mode}. It changes /o/a, outside the project. The rule Edit (settings.json:1) does not reach"
        in words
    )
    assert "This allow rule, in .agent/settings.local.json: Edit(//o/a)" in words
    assert "Runs without a question" in explained(away, rules(allow=["Edit(//o/*)"]), mode)


def test_a_protected_place_needs_a_yes_each_time() -> None:
    assert "no rule and no mode lets a protected place pass" in explained(edit("protected"), mode="bypass")


def test_a_line_that_is_not_plain_has_no_rule() -> None:
    words = explained(line("echo $(x)", plain=False), rules(allow=["Bash(echo:*)"]))
    assert "It contains a command substitution." in words
    assert "No rule can" in words


def test_dont_ask_says_that_it_refuses() -> None:
    assert "The mode dontAsk refuses what would be asked." in explained(edit(), mode="dontAsk")


def test_plan_mode_says_how_to_leave_it() -> None:
    assert "Approve the plan, or leave plan mode" in explained(edit(), mode="plan")


@pytest.mark.parametrize("effect", [edit(), line("make build"), line("make a", "make b")])
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto"])
def test_what_is_said_to_change_it_does(effect: Effect, mode: str) -> None:
    wanted = NONE.allowing(suggestions(effect))
    assert judge(effect, wanted, mode).decision == "allow"
    told_modes = next((way for way in ways(effect, judge(effect, NONE, mode), NONE, mode) if "Another mode" in way), "")
    for other in MODES:
        if f"/mode {other}" in told_modes:
            assert judge(effect, NONE, other).decision == "allow"


def test_while_a_settings_file_is_broken_no_mode_lets_anything_pass() -> None:
    strict = Rules((), ANCHORS, "settings.json:3 is no valid JSON.")
    for mode in ("acceptEdits", "auto", "bypass"):
        verdict = judge(edit(), strict, mode)
        assert verdict.decision == "ask"
        assert "settings.json:3" in verdict.why
    assert judge(line("ls", reads=("ls",)), strict, "default").decision == "allow"


def test_several_modes_are_told_as_a_list() -> None:
    assert "Another mode: /mode acceptEdits, /mode auto or /mode bypass." in explained(edit())


RULES = ("Bash(make)", "Bash(make:*)", "Bash(sleep:*)", "Bash(ls)", "Bash(rm x)", "Bash(rm:*)", "Bash", "Edit(**)")
READS = ("sleep 60", "ls", "cat a.py")
COMMANDS = (*READS, "make", "make all", "rm x", "rm y")


@given(
    st.lists(st.sampled_from(RULES), unique=True, max_size=4),
    st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3),
    st.sampled_from(MODES),
)
def test_a_rule_is_named_only_where_it_was_needed(texts: list[str], commands: list[str], mode: str) -> None:
    known, effect = rules(allow=texts), line(*commands, reads=READS)
    verdict = judge(effect, known, mode)
    named = [rule for rule in known.all if f"{rule.text} ({rule.source})" in verdict.why]
    needy = [command for command in commands if command not in READS]
    if not needy:
        assert (verdict.decision, verdict.by, verdict.rule, named) == ("allow", "mode", "", [])
    if verdict.by == "rule":
        assert verdict.rule in [rule.text for rule in named]
    for rule in named:  # it lets a part of the line pass that nothing else does
        lone = Rules([rule], ANCHORS)
        assert any(judge(line(command, reads=READS), lone, "default").by == "rule" for command in needy)
    for command, decision, reason in verdict.parts:
        alone = judge(line(command, reads=READS), known, mode)
        assert decision == alone.decision or mode == "plan"
        assert ("rule " in reason and "no rule" not in reason) == (alone.by == "rule")


@given(
    st.lists(st.sampled_from(RULES), min_size=1, unique=True, max_size=5),
    st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3),
    st.sampled_from(["default", "auto", "bypass"]),
)
def test_what_is_said_to_end_it_does(texts: list[str], commands: list[str], mode: str) -> None:
    known, effect = rules(allow=texts), line(*commands, reads=READS)
    verdict = judge(effect, known, mode)
    assume(verdict.by == "rule")
    (way,) = ways(effect, verdict, known, mode)
    if way.startswith("Take "):
        left = Rules([rule for rule in known.all if f"{rule.text} out of {rule.source}" not in way], ANCHORS)
        assert judge(effect, left, mode).decision == "ask"
    else:
        assert judge(effect, NONE, mode).decision == "allow"
