"""Rules: their shape, what they match, what is stored by "don't ask again", and its law."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.effects import Effect, Risk, ShellPart, ShellReading, Touch
from codeagent.core.rules import Anchors, Rule, Rules, allowed_by, match, narrow, never_matches, parse, remark
from codeagent.core.views import Plain

ANCHORS = Anchors(root="/p", home="/home/u", cwd="/p")


def shell(*commands: tuple[str, ...] | None, plain: bool = True, readonly: bool = False, covers: Any = ()) -> Effect:
    parts = tuple(ShellPart(" ".join(words or ("?",)), words, readonly, Risk.HIGH, covers=covers) for words in commands)
    return Effect("bash", "", "", Risk.HIGH, Plain(""), shell=ShellReading(parts, plain), cwd="/p")


def touching(tool: str, path: str, *, named: str = "", access: Any = "write", place: Any = "inside") -> Effect:
    touch = Touch(path, access, place, named or path)
    return Effect(tool, path, "", Risk.MEDIUM, Plain(""), touches=(touch,), cwd="/p")


def fetch(host: str) -> Effect:
    return Effect("web_fetch", host, "", Risk.HIGH, Plain(""), host=host)


def says(text: str, effect: Effect, kind: Any = "allow") -> bool:
    return match(parse(text, kind, "test"), effect, ANCHORS)


@pytest.mark.parametrize(
    ("text", "tool", "specifier"),
    [
        ("Bash", "bash", ""),
        ("bash(*)", "bash", ""),
        ("Bash(npm test:*)", "bash", "npm test:*"),
        (" Read( src/** ) ", "read", "src/**"),
        ("web_fetch(domain:a.b)", "webfetch", "domain:a.b"),
        ("mcp__srv__Tool", "mcp__srv__tool", ""),
        ("Bash(echo (a))", "bash", "echo (a)"),
        ("Edit(*)", "edit", "*"),
    ],
)
def test_parse(text: str, tool: str, specifier: str) -> None:
    rule = parse(text, "deny", "settings.json:3")
    assert (rule.tool, rule.specifier, rule.kind, rule.source) == (tool, specifier, "deny", "settings.json:3")


@pytest.mark.parametrize("text", ["", "Bash(", "Bash)", "(x)", "Bash()", "Bash( )", "two words", "1Bash"])
def test_parse_refuses_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse(text, "allow", "test")


@pytest.mark.parametrize(
    ("text", "command", "covered"),
    [
        ("Bash(npm run test:*)", "npm run test", True),
        ("Bash(npm run test *)", "npm run test -- -k x", True),
        ("Bash(npm run test:*)", "npm run test:unit", False),
        ("Bash(npm run test*)", "npm run test:unit", True),
        ("Bash(ls*)", "lsof", True),
        ("Bash(ls *)", "lsof", False),
        ("Bash(git * main)", "git push origin main", True),
        ("Bash(git * main)", "git push origin main2", False),
        ("Bash(git *:*)", "git log", True),
        ("Bash(*--dry-run*)", "helm upgrade --dry-run x", True),
        ("Bash(npm  test)", "npm test", True),
        ("Bash(npm test)", "npm test x", False),
        ("Bash(git commit -m 'a b')", "git commit -m a\x00b", False),
        ("Bash(echo \\*)", "echo *", True),
        ("Bash(echo \\*)", "echo x", False),
        ("Bash(echo '*')", "echo *", True),
        ("Bash(echo it's)", "echo it's", True),
        ("Bash(echo:x)", "echo:x", True),
        ("Bash", "anything at all", True),
    ],
)
def test_words(text: str, command: str, covered: bool) -> None:
    assert says(text, shell(tuple(command.split(" ")))) == covered


def test_quoted_blanks_are_not_word_borders() -> None:
    assert says("Bash(git commit -m 'a b')", shell(("git", "commit", "-m", "a b")))
    assert not says("Bash(git commit -m 'a b')", shell(("git", "commit", "-m", "a", "b")))
    assert not says("Bash(git commit -m a b)", shell(("git", "commit", "-m", "a b")))
    assert says("Bash(git commit -m a b)", shell(("git", "commit", "-m", "a b")), "deny")


def test_allow_needs_every_part_and_a_line_that_was_read() -> None:
    assert says("Bash(make:*)", shell(("make",), ("make", "x")))
    assert not says("Bash(make:*)", shell(("make",), ("rm", "x")))
    assert not says("Bash(make:*)", shell(("make",), plain=False))
    assert not says("Bash(make:*)", shell(("make",), None))
    two = [parse("Bash(make:*)", "allow", "a"), parse("Bash(rm x)", "allow", "b")]
    assert allowed_by(two, shell(("make",), ("rm", "x")), ANCHORS)
    assert Rules(two, ANCHORS).allowed(shell(("make",), ("rm", "x"))) == tuple(two)


@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_deny_and_ask_see_any_part_and_what_it_wraps(kind: Any) -> None:
    assert says("Bash(rm:*)", shell(("ls",), ("rm", "x"), plain=False), kind)
    assert says("Bash(rm:*)", shell(None, covers=(("sudo", "rm"), ("rm", "x"))), kind)
    assert says("Bash", shell(None, plain=False), kind)
    assert not says("Bash(rm:*)", shell(("ls", "rm")), kind)


def test_no_rule_allows_what_is_forbidden() -> None:
    reading = ShellReading(
        (ShellPart("rm -rf /", ("rm", "-rf", "/"), False, Risk.HIGH),), True, forbidden="it removes /"
    )
    effect = Effect("bash", "", "", Risk.HIGH, Plain(""), shell=reading)
    assert not says("Bash", effect)
    assert narrow(effect) == ()


def test_many_stars_cost_no_time() -> None:
    assert not says("Bash(" + "*a" * 40 + "b)", shell(("a" * 9_000,)))


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("Edit(src/**)", "/p/src/a.py", True),
        ("Edit(src/**)", "/p/lib/src/a.py", False),
        ("Edit(*.py)", "/p/deep/down/a.py", True),
        ("Edit(/src/*.py)", "/p/src/a.py", True),
        ("Edit(/src/*.py)", "/p/src/deep/a.py", False),
        ("Edit(//etc/hosts)", "/etc/hosts", True),
        ("Edit(//etc/hosts)", "/p/etc/hosts", False),
        ("Edit(~/notes/**)", "/home/u/notes/a", True),
        ("Edit(./a.py)", "/p/a.py", True),
        ("Edit(./a.py)", "/p/x/a.py", False),
        ("Edit(**)", "/p/x", True),
        ("Edit(*)", "/other/x", False),
        ("Edit(src)", "/p/src/a.py", True),
        ("Write(src/**)", "/p/src/a.py", True),
        ("Read(src/**)", "/p/src/a.py", False),
        ("Edit", "/anywhere", True),
    ],
)
def test_paths(text: str, path: str, allowed: bool) -> None:
    assert says(text, touching("edit", path)) == allowed
    assert says(text, touching("write", path)) == allowed


def test_a_path_rule_counts_from_where_its_settings_stand() -> None:
    rule = parse("Edit(/x/**)", "allow", "settings.json:1", base="/home/u/.config")
    assert match(rule, touching("edit", "/home/u/.config/x/a"), ANCHORS)
    assert not match(rule, touching("edit", "/p/x/a"), ANCHORS)


@pytest.mark.parametrize(
    ("texts", "allowed"),
    [
        (["Edit"], False),
        (["Write"], False),
        (["Edit(*)", "Edit(**)", "Edit(/**)", "Edit(./**)", "Edit(out/**)", "Edit"], False),
        (["Read(//other/**)"], False),
        (["Edit(//elsewhere/**)", "Edit"], False),
        (["Edit(//other/**)"], True),
        (["Edit", "Edit(//other/*.txt)"], True),
        (["Edit(~/../../other/**)"], False),
    ],
)
@pytest.mark.parametrize("tool", ["edit", "write", "export"])
def test_a_write_outside_is_only_covered_by_a_rule_that_names_the_place(
    texts: list[str], allowed: bool, tool: str
) -> None:
    rules = [parse(text, "allow", "test") for text in [*texts, "Export"]]
    for named in ("/other/a.txt", "../other/a.txt"):
        assert allowed_by(rules, touching(tool, "/other/a.txt", named=named, place="outside"), ANCHORS) == allowed
    link = touching(tool, "/other/a.txt", named="out/a.txt", place="outside")
    assert not allowed_by(rules, link, ANCHORS), "neither the link's name nor where it leads is enough alone"


def test_a_rule_over_commands_means_them_in_the_project() -> None:
    here = shell(("make",))
    there = replace(here, cwd="/other", touches=(Touch("/other", "read", "outside"),))
    assert says("Bash(make:*)", here)
    assert not says("Bash(make:*)", there)
    assert says("Bash", there), "every command, wherever it runs"


def test_edit_permits_reading_and_a_denied_read_keeps_from_writing() -> None:
    assert says("Edit(src/**)", touching("read", "/p/src/a", access="read"))
    assert says("Read(.env)", touching("edit", "/p/sub/.env"), "deny")
    assert not says("Edit(.env)", touching("read", "/p/.env", access="read"), "deny")


def test_a_link_needs_both_names_for_allow_and_one_for_deny() -> None:
    linked = touching("edit", "/p/secret/a", named="src/a")
    assert not says("Edit(src/**)", linked)
    assert says("Edit(src/**)", linked, "deny")
    assert says("Edit(secret/**)", linked, "deny")


def test_deny_ignores_case_and_where_the_shell_has_gone() -> None:
    assert says("Read(.env)", touching("read", "/p/sub/.ENV", access="read"), "deny")
    assert says("Edit(build/**)", touching("edit", "/p/x/build/a"), "deny")
    moved = Anchors(root="/p", home="/home/u", cwd="/p/sub")
    assert match(parse("Read(.env)", "deny", ""), touching("read", "/p/.env", access="read"), moved)


def test_a_read_rule_sees_what_a_command_reads() -> None:
    reading = ShellReading(
        (ShellPart("cat k", ("cat", "k"), True, Risk.LOW),), True, touches=(Touch("/p/k", "read", "inside", "k"),)
    )
    effect = Effect("bash", "", "", Risk.LOW, Plain(""), shell=reading, cwd="/p")
    assert says("Read(k)", effect, "deny")
    assert not says("Read(other)", effect, "deny")


@pytest.mark.parametrize(
    ("text", "host", "matches"),
    [
        ("WebFetch(domain:Example.org)", "example.ORG", True),
        ("WebFetch(domain:example.org)", "a.example.org", False),
        ("WebFetch(domain:*.example.org)", "a.b.example.org", True),
        ("WebFetch(domain:*.example.org)", "example.org", False),
        ("WebFetch(domain:a.*.org)", "a.b.org", True),
        ("WebFetch(domain:a.*.org)", "a.b.c.org", False),
        ("WebFetch(domain:example.org)", "example.org\x00.evil", False),
        ("WebFetch(domain:example.org)", "exampleXorg", False),
        ("WebFetch", "anything.example", True),
    ],
)
def test_hosts(text: str, host: str, matches: bool) -> None:
    assert says(text, fetch(host)) == matches


def test_other_tools() -> None:
    other = Effect("mcp__srv__read", "x", "", Risk.HIGH, Plain(""))
    assert says("mcp__srv", other)
    assert says("mcp__srv__*", other)
    assert not says("mcp__sr", other)
    assert not says("mcp__*", other)
    assert says("mcp__*", other, "deny")
    skill = Effect("skill", "review", "", Risk.LOW, Plain(""))
    assert says("Skill(review)", skill)
    assert not says("Skill(other)", skill)


def test_order_of_lists() -> None:
    rules = Rules(
        [
            parse("Bash(git:*)", "allow", "a:1"),
            parse("Bash(git push:*)", "ask", "b:2"),
            parse("Bash(rm:*)", "deny", "c:3"),
        ],
        ANCHORS,
    )
    effect = shell(("git", "push"), ("rm", "x"))
    assert (rules.denied(effect), rules.asked(effect)) == (rules.all[2], rules.all[1])
    assert rules.allowed(effect) == ()
    assert rules.allowed(shell(("git", "log"))) == (rules.all[0],)
    assert effect.shell is not None
    assert [rules.for_part(part) for part in effect.shell.parts] == [rules.all[1], rules.all[2]]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Bsah(ls)", "no tool named"),
        ("Bash(ls && pwd)", "one rule for each"),
        ("Bash(ls > x)", "one rule for each"),
        ("Bash(git:* push)", "only at the end"),
        ("Bash(:*)", "write Bash"),
        ("Bash(A=1 make)", "sets a variable"),
        ("Bash(echo $HOME)", "expansion"),
        ("Read(!x)", "negated"),
        ("WebFetch(https://example.org/x)", "domain:example.org"),
        ("WebFetch(domain:https://example.org)", "domain:example.org"),
        ("Todo(x)", "no specifier"),
        ("mcp__*", "name the server"),
    ],
)
def test_rules_that_never_match_are_named_with_a_correction(text: str, word: str) -> None:
    assert word in never_matches(parse(text, "allow", "test"))


@pytest.mark.parametrize(
    "text",
    [
        "Bash(git commit -m 'a && b')",
        "Bash(npm test:*)",
        "Read(src/**)",
        "Write(x)",
        "mcp__a__b",
        "WebFetch(domain:*.x.org)",
        "Task(a)",
    ],
)
def test_rules_that_can_match_pass(text: str) -> None:
    assert never_matches(parse(text, "allow", "test")) == ""


def test_a_rule_under_another_name_is_remarked() -> None:
    assert "Edit(x)" in remark(parse("Write(x)", "allow", "test"))
    assert "Read(x)" in remark(parse("Grep(x)", "deny", "test"))
    assert remark(parse("Edit(x)", "allow", "test")) == ""


def test_narrow() -> None:
    assert narrow(shell(("git", "push", "origin"), ("git", "push", "origin"))) == ("Bash(git push origin)",)
    assert narrow(shell(("echo", "a b", "*", ""))) == ("Bash(echo 'a b' '*' '')",)
    assert narrow(shell(("ls",), readonly=True)) == ()
    assert narrow(shell(("ls",), plain=False)) == ()
    assert narrow(shell(None)) == ()
    assert narrow(shell(*[(f"x{number}",) for number in range(6)])) == ()
    assert narrow(fetch("a.example")) == ("WebFetch(domain:a.example)",)


WORDS = st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), min_size=1, max_size=4).map(tuple)
TRICKY = st.lists(st.text(" *'\"\\:ab-=;|$\n", max_size=6), min_size=1, max_size=4).map(tuple)


@given(WORDS | TRICKY, WORDS | TRICKY)
def test_what_is_stored_allows_the_same_words_and_no_others(words: tuple[str, ...], others: tuple[str, ...]) -> None:
    texts = narrow(shell(words))
    assume(texts)
    stored: list[Rule] = [parse(text, "allow", "settings.local.json:1") for text in texts]
    assert allowed_by(stored, shell(words), ANCHORS)
    assert allowed_by(stored, shell(others), ANCHORS) == (words == others)


@given(TRICKY)
def test_ordinary_words_can_always_be_stored(words: tuple[str, ...]) -> None:
    assume("=" not in words[0])
    assert len(narrow(shell(words))) == 1
