"""The flags: spellings, lists, mistakes in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent import flags
from codeagent.flags import Mistake, parse
from codeagent.options import Options


def test_no_flags_is_the_default() -> None:
    assert parse([]) == Options()


def test_every_flag_of_the_help_has_its_place_in_the_options() -> None:
    fields = set(Options.__struct_fields__)
    names = {a.dest for a in flags.parser()._actions} - {"help", "version", "dangerously_skip_permissions"}
    assert {n.removesuffix("_file") if "prompt_file" in n else n for n in names} == fields - {"prompt"}


def test_words_are_the_prompt_wherever_they_stand() -> None:
    options = parse(["-p", "review", "--model", "opus", "this file", "--", "--not-a-flag"])
    assert options.prompt == "review this file --not-a-flag"
    assert options.print
    assert options.model == "opus"


@pytest.mark.parametrize(
    ("spelling", "field", "value"),
    [
        (["--allowedTools", "read"], "allowed_tools", ("read",)),
        (["--disallowedTools=bash,edit"], "disallowed_tools", ("bash", "edit")),
        (["--maxTurns", "7"], "max_turns", 7),
        (["--permissionMode", "bypassPermissions"], "permission_mode", "bypass"),
        (["--dangerously-skip-permissions"], "permission_mode", "bypass"),
        (["--appendSystemPrompt", "Be brief."], "append_system_prompt", "Be brief."),
        (["--addDir", ".", "--add-dir", "/"], "add_dir", (".", "/")),
        (["--tools", ""], "tools", ""),
        (["-c"], "continue_", True),
        (["-r"], "resume", ""),
        (["-r", "abc"], "resume", "abc"),
        (["--max-budget-usd", "0.5"], "max_budget_usd", 0.5),
    ],
)
def test_spellings(spelling: list[str], field: str, value: object) -> None:
    assert getattr(parse(spelling), field) == value


def test_every_flag_may_be_spelt_as_in_other_tools() -> None:
    known = flags.parser().flags
    for flag in known:
        first, *rest = flag.removeprefix("--").split("-") if flag.startswith("--") else [""]
        if rest:
            assert flags.kebab([f"--{first}{''.join(word.title() for word in rest)}=x"], known) == [f"{flag}=x"]


def test_the_promised_flags_are_there() -> None:
    promised = (
        "--model --fallback-model --effort --permission-mode --allowed-tools --disallowed-tools --tools --max-turns "
        "--max-tokens-total --max-budget-usd --max-seconds -c --continue -r --resume --fork-session --session-id "
        "--name --no-session-persistence --add-dir --settings --append-system-prompt --append-system-prompt-file "
        "--system-prompt --system-prompt-file --json-schema --bare --trust --setting-sources --permission-prompt-tool "
        "--dangerously-skip-permissions --cwd --verbose --debug-file --version"
    )
    assert set(promised.split()) <= set(flags.parser().flags)


def test_lists_of_rules_are_parted_by_commas_and_blanks_outside_parentheses() -> None:
    given = parse(["--allowed-tools", "Bash(git log --oneline, *) Edit,read", "--allowed-tools", "mcp__a__b"])
    assert given.allowed_tools == ("Bash(git log --oneline, *)", "Edit", "read", "mcp__a__b")


def test_prompts_from_files_join_those_from_flags(tmp_path: Path) -> None:
    file = tmp_path / "prompt.md"
    file.write_text("From the file.")
    given = parse(["--append-system-prompt", "From the flag.", "--append-system-prompt-file", str(file)])
    assert given.append_system_prompt == "From the flag.\n\nFrom the file."


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--modle", "x"], "Unknown flag --modle. Did you mean --model?"),
        (["--xyzzy"], "Unknown flag --xyzzy."),
        (["--max-turns", "0"], "no whole number above 0"),
        (["--max-seconds", "soon"], "no number above 0"),
        (["--permission-mode", "fast"], "'fast' is no mode; modes are default,"),
        (["--output-format", "xml"], "invalid choice: 'xml'"),
        (["--model"], "expected one argument"),
        (["--cwd", "/no/such"], "There is no directory /no/such"),
        (["--add-dir", "/no/such"], "There is no directory /no/such"),
        (["--system-prompt-file", "/no/such"], "cannot read /no/such"),
        (["-c", "-r", "x"], "exclude each other"),
        (["-p", "-r"], "no list to choose from"),
        (["--input-format", "stream-json"], "needs --output-format stream-json"),
        (["--include-partial-messages"], "needs --output-format stream-json"),
        (["--effort", "hgih"], "'hgih' is no level of effort; levels are low,"),
        (["--session-id", "../x"], "'../x' is no id"),
        (["--session-id", "a" * 101], "is no id"),
        (["--fork-session"], "say which one with -r ID"),
        (["-c", "--session-id", "x"], "add --fork-session"),
        (["-p", "--permission-prompt-tool", "stdio"], "needs --input-format stream-json"),
        (["-p", "--replay-user-messages"], "needs --input-format stream-json"),
        (["--json-schema", "{}"], "it needs -p"),
        (["-p", "--json-schema", "[]"], "neither a JSON object nor a file"),
    ],
)
def test_mistakes_say_what_came_and_what_to_do(argv: list[str], words: str) -> None:
    with pytest.raises(Mistake, match=r"[.)a-z\d]$") as told:
        parse(argv)
    assert words in str(told.value)
