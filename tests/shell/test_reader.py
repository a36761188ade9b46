"""What a reading says: parts, doubts, risk, directories, redirections, paths."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.effects import Risk


def unasked(reading: Any) -> bool:
    return bool(reading.plain and not reading.forbidden and all(part.readonly for part in reading.parts))


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "cat README.md | head -n 5 2>/dev/null",
        "grep -rn --include='*.py' import src",
        "grep -e a -e b README.md",
        "rg -n 'def .*$' src",
        'grep "^import$" src/app.py',
        "find src -name '*.py' -not -path '*/deep/*' -print",
        "find . \\( -name a -o -name b \\) -type f",
        "sed -n '1,5p;10p' README.md",
        "sort -k2,2 README.md | uniq -c | sort -rn | head -20",
        "wc -l < README.md",
        "cd src && ls && pwd",
        "cd src && cat app.py",
        "test -d src && echo yes || echo no",
        "[ -f README.md ] && cat README.md",
        "git log --oneline -5 -- src",
        "git --no-pager diff HEAD~1 --stat",
        "git show HEAD:src/app.py",
        "git branch -a",
        "git stash list",
        "timeout 5 ls",
        "nice -n 5 wc -l README.md",
        "command -v git",
        "sleep 2",
        "echo 'a; rm -rf b' \"and $\"",
        "printf '%s\\n' a b",
        "date +%F",
        "cat far/../app.py",
        "ls 2>&1 | tail -n +3",
        "jq '.environment | .x' README.md",
        "sed -n '/^def main/,/return/p' src/app.py",
        "awk -F: '{print $1, $NF}' README.md",
        "expr 1 + 2",
        "git -P log -1",
        "git stash show -p stash@{0}",
    ],
)
def test_read_only(command: str, read: Any) -> None:
    reading = read(command)
    assert unasked(reading), (reading.why, [part.why for part in reading.parts])
    assert all(part.risk is Risk.LOW for part in reading.parts)


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat ../other/x",
        "cat out/x",
        "git show HEAD:.env",
        "git diff /etc/passwd /etc/hosts",
        "git log --format=%G?",
        "git config user.name",
        "git branch new",
        "git branch -v new",
        "git symbolic-ref HEAD refs/heads/x",
        "git reflog expire --all",
        "git stash",
        "git worktree",
        "cd src; cat ../../other/x",
        "cd nowhere; cat ../other/x",
        "cd src || cat ../other/x",
        "cd src && git status",
        "cd far/.. && ls",
        "cd out && ls",
        "cd far && cd .. && cat ../x",
        "ls || cd src && cat ../x",
        "cd - && ls",
        "ls | cd src && cat ../../other/x",
        "ls | cd src/deep && cat ../../README.md",
        "cd src/deep | ls && cat ../../README.md",
        "command cd docs && cat README.md",
        "cd src/deep; cd ..; cat ../../other/x",
        "git config --list",
        "sort --out x README.md",
        "grep --recursiv x .",
        "printf '%n' PATH",
        "printf '%5lln' PATH",
        "strings @README.md",
        "diff -l a b",
        "git for-each-ref --format='%(signature)'",
        "cd src && nice -n 5 git status",
        "sed -n '/[/]/w x/p' README.md",
        "sed -n '/\\c/w x/p' README.md",
        "sed -n '/a/w x' README.md",
        "awk '{print > 1}' README.md",
        "awk '{print}' FS=x",
        "jq 'env' README.md",
        "jq '\"\\(env)\"' README.md",
        "jq '$ENV.X' README.md",
        "printf -v PATH x",
        "find . -fprint x",
        "tail -f README.md",
        "xxd README.md x",
        "wc --files0-from=README.md",
        "tar tf host:file",
        "ls > x",
        "ls >> /dev/null2",
        "ls 3> /dev/null",
        "cat < ../other/x",
        "cat README.md > .env",
        "nice -n 5 rm x",
        "nohup ls",
        "xargs ls",
        "env ls",
        "time ls",
        "ls & pwd",
        "ls \\\n -la",
        "echo a=~",
        "echo {a,b}",
        "echo {1..3}",
        "ls $HOME",
        "ls ~",
        "ls *.py",
        "ls [a]",
        "'ls' $'x'",
        "vim -V --version",
        "./python --version",
        "A=1 ls",
        "! ls",
        "%1",
        "ls\r\nrm x",
        "ls \u00a0-la",
    ],
)
def test_asked(command: str, read: Any) -> None:
    assert not unasked(read(command))


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("pytest -q tests/test_a.py::test_b", Risk.MEDIUM),
        ("python -m pytest -k x", Risk.MEDIUM),
        ("timeout 60 make test", Risk.MEDIUM),
        ("make -j 4", Risk.MEDIUM),
        ("npm run test:unit", Risk.MEDIUM),
        ("cargo test --all", Risk.MEDIUM),
        ("uv run pytest", Risk.MEDIUM),
        ("ruff check .", Risk.MEDIUM),
        ("pytest ../other", Risk.HIGH),
        ("pytest -c/etc/x", Risk.HIGH),
        ("make SHELL=/tmp/x", Risk.HIGH),
        ("npm run build:deploy", Risk.HIGH),
        ("tox -e release", Risk.HIGH),
        ("make -C /tmp test", Risk.HIGH),
        ("make deploy", Risk.HIGH),
        ("npm run deploy", Risk.HIGH),
        ("python -m http.server", Risk.HIGH),
        ("pip install x", Risk.HIGH),
        ("cat /etc/passwd", Risk.HIGH),
        ("rm x", Risk.HIGH),
    ],
)
def test_risk(command: str, risk: Risk, read: Any) -> None:
    (part,) = read(command).parts
    assert part.risk is risk
    assert not part.readonly
    assert part.why


def test_every_simple_command_at_any_depth_is_a_part(read: Any) -> None:
    reading = read("if ls; then (echo $(rm a)); fi; cat <<E\n`rm b`\nE\nf() { rm c; }")
    firsts = [part.words[0] for part in reading.parts if part.words]
    assert firsts.count("rm") == 3
    assert not reading.plain
    assert "if statement" in reading.why


def test_words_are_known_only_when_nothing_expands(read: Any) -> None:
    known, unknown = read("git commit -m 'a b'; rm $F").parts
    assert known.words == ("git", "commit", "-m", "a b")
    assert unknown.words is None
    assert ("rm", "$F") in unknown.covers


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("timeout -k 5 10 rm x", ("rm", "x")),
        ("sudo -u root env A=1 rm x", ("rm", "x")),
        ("bash -lc 'ls; rm x'", ("rm", "x")),
        ("eval rm x", ("rm", "x")),
        ("find . -exec rm x \\;", ("rm", "x", ";")),
        ("echo x | xargs rm", ("rm", "x")),
        ("/bin/rm x", ("rm", "x")),
        ("git -C sub push", ("git", "push")),
        ("r$@m x", ("rm", "x")),
        ("bash <<< 'rm x'", ("rm", "x")),
    ],
)
def test_covers_what_is_hidden(command: str, inner: tuple[str, ...], read: Any) -> None:
    assert any(inner in part.covers for part in read(command).parts)


def test_touches_name_paths_read_and_written(read: Any, project: Path) -> None:
    touches = {(touch.path, touch.access) for touch in read("cat README.md; echo x > src/new.txt").touches}
    assert touches == {(str(project / "README.md"), "read"), (str(project / "src" / "new.txt"), "write")}


def test_a_relative_path_counts_from_the_shells_directory(read: Any, project: Path) -> None:
    assert unasked(read("cat ../README.md", cwd=str(project / "src")))
    assert not unasked(read("cat ../../other/x", cwd=str(project / "src")))


def test_no_rule_for_a_program_covers_what_it_is_fed(read: Any) -> None:
    (part,) = read("sh < README.md").parts
    assert part.words is None
    assert ("sh",) in part.covers


def test_a_second_cd_counts_from_every_place_that_the_first_may_have_led_to(read: Any) -> None:
    assert unasked(read("cd src; cd deep; ls"))
    assert not unasked(read("cd src/deep && cd .. && cat ../../other/x"))
    assert unasked(read("cd src/deep && cd .. && cat ../README.md"))


@pytest.mark.parametrize("first", ["pushd /etc", "hash -p ./x cat", "source x", "alias cat=rm", "builtin cd /etc"])
def test_nothing_is_read_only_after_a_builtin_that_changes_the_shell(first: str, read: Any) -> None:
    before, after = read(f"{first}; cat passwd").parts
    assert not before.readonly
    assert not after.readonly


def test_reasons_are_words(read: Any) -> None:
    assert read("ls $(pwd)").why == "it contains a command substitution"
    assert "U+200B" in read("l\u200bs").why
    assert "10,001" in read("x" * 10_001).why
    assert read("").why == "there is no command in it"
    assert read("cat /etc/passwd").parts[0].why == "/etc/passwd lies outside the project"


def test_wide_characters_after_a_brace_do_not_end_the_process(read: Any) -> None:
    read(
        "w\U000de2e5uO\u02bd.{\U000e4a9b\u87d1\U000424e9\ua640\x19\U000a3635\U000ad39d\U0002af016\u7175\U000a7ddb\u6e37n"
    )
    for place in (*range(0x3000, 0xD800, 0x5003), *range(0xE000, 0x110000, 0x5003), 0x10FFFF):
        read(f"cat {{{chr(place)}..{chr(place)}}}")


def test_wide_characters_are_parts_of_words(read: Any) -> None:
    reading = read("cat grüße.txt 'naïve 😀' {😀}")
    assert reading.parts[0].words[:3] == ("cat", "grüße.txt", "naïve 😀")
    assert read("ls ü").plain


@given(st.text(max_size=60) | st.text("ls rm/|&;()<>{}$`'\"\\\n#~*=-[]!x", max_size=40))
@settings(max_examples=300)
def test_any_text_can_be_read(read: Any, text: str) -> None:
    reading = read(text)
    assert reading.plain == (not reading.why)
    assert not reading.plain or all(part.words for part in reading.parts)


@pytest.mark.parametrize(
    "unit", ["(", "$(echo ", "{a,b}", "`", "\\", "'", "# ", "eval ", "env -S '", "find . -exec ", "${a", "a;", "<<E\n"]
)
def test_hostile_lengths_and_depths_end_soon(unit: str, read: Any) -> None:
    began = time.monotonic()
    assert not unasked(read(unit * 2_000 + "rm x"))
    assert time.monotonic() - began < 10
