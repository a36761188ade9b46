"""Settings listed with where they come from, read, set and taken out: through the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent import cli
from tests.subcommands.conftest import Run


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def own(program_env: dict[str, str]) -> Path:
    """The user's own file."""
    home = Path(program_env["HOME"])
    return Path(program_env.get("XDG_CONFIG_HOME", home / ".config")) / "codeagent" / "settings.json"


def test_a_value_set_is_in_force_and_told_with_file_and_line(here: Path, own: Path, run: Run) -> None:
    code, out, _ = run("config", "set", "theme", "light")
    assert code == 0
    assert out == f"theme is light now. It stands in {own}:2\n"
    code, out, err = run("config", "get", "theme")
    assert (code, out) == (0, "light\n")
    assert err == (
        "theme: colours of the full screen\n"
        "  wanted: one of dark, light, dark-safe, light-safe, terminal. Default: dark\n"
        f"  in force: light ({own}:2)\n"
    )
    assert f"{own}:2" in run("config")[1].splitlines()[0]
    told = json.loads(run("config", "--json")[1])
    [row] = [row for row in told["settings"] if row["name"] == "theme"]
    assert (row["value"], row["source"], row["default"]) == ("light", f"{own}:2", "")
    assert json.loads(run("config", "get", "theme", "--json")[1]) == row


def test_the_default_and_a_variable_are_named(here: Path, program_env: dict[str, str], run: Run) -> None:
    assert json.loads(run("config", "get", "maxTurns", "--json")[1])["source"] == "default"
    program_env["CODEAGENT_MAX_TURNS"] = "7"
    row = json.loads(run("config", "get", "maxTurns", "--json")[1])
    assert (row["value"], row["source"]) == (7, "CODEAGENT_MAX_TURNS")


def test_what_counts_more_is_said(here: Path, program_env: dict[str, str], run: Run) -> None:
    program_env["CODEAGENT_THEME"] = "dark"
    out = run("config", "set", "theme", "light")[1]
    assert "Not in force: CODEAGENT_THEME says dark" in out


def test_local_and_project_files_are_kept_apart_and_stay_trusted(here: Path, run: Run) -> None:
    assert run("config", "set", "maxTurns", "80", "--local")[0] == 0
    out = run("config", "set", "maxTurns", "90", "--project")[1]
    assert json.loads((here / ".agent/settings.local.json").read_text()) == {"maxTurns": 80}
    assert json.loads((here / ".agent/settings.json").read_text()) == {"maxTurns": 90}
    assert "settings.local.json:2 says 80" in out
    assert run("config", "get", "maxTurns")[1] == "80\n"
    assert "settings.local.json" in (here / ".agent/.gitignore").read_text()


def test_in_a_directory_that_is_not_trusted_it_says_so(here: Path, run: Run) -> None:
    (here / ".agent").mkdir()
    (here / ".agent/settings.json").write_text('{"model": "opus"}')
    out = run("config", "set", "maxTurns", "80", "--project")[1]
    assert "Not in force yet: this directory is not trusted" in out
    assert "not in force until you trust" in run("config")[1]
    assert run("config", "get", "model")[1] == "\n"


def test_rules_are_lists_and_each_is_checked(here: Path, run: Run) -> None:
    assert run("config", "set", "permissions.deny", "Read(.env)", "Bash(git push:*)", "--project")[0] == 0
    assert run("config", "get", "permissions.deny")[1] == "Read(.env)\nBash(git push:*)\n"
    assert run("config", "set", "permissions.deny", '["Read(a)"]', "--project")[0] == 0
    assert run("config", "get", "permissions.deny")[1] == "Read(a)\n"
    row = json.loads(run("config", "get", "permissions.deny", "--json")[1])
    assert row["value"] == [{"value": "Read(a)", "source": f"{here}/.agent/settings.json:4"}]
    code, _, err = run("config", "set", "permissions.allow", "Bash(git")
    assert code == 2
    assert "is not a rule" in err


def test_unset_takes_it_out_and_leaves_the_rest(here: Path, own: Path, run: Run) -> None:
    run("config", "set", "compaction.keep", "6")
    run("config", "set", "compaction.auto", "false")
    assert json.loads(own.read_text()) == {"compaction": {"keep": 6, "auto": False}}
    assert run("config", "unset", "compaction.keep")[0] == 0
    assert run("config", "unset", "compaction.auto")[0] == 0
    assert json.loads(own.read_text()) == {}
    code, _, err = run("config", "unset", "compaction.auto")
    assert (code, err.count("\n")) == (2, 1)
    assert "does not stand in" in err


def test_a_setting_that_is_also_a_group_loses_nothing(here: Path, own: Path, run: Run) -> None:
    for words in (("sandbox.network", "true"), ("sandbox", "off"), ("sandbox.network", "false")):
        assert run("config", "set", *words)[0] == 0
    assert run("config", "get", "sandbox")[1] == "off\n"
    assert run("config", "get", "sandbox.network")[1] == "false\n"
    assert run("config", "unset", "sandbox")[0] == 0
    assert run("config", "get", "sandbox.network", "--json")[1].count(str(own)) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("get", "modle"), "There is no setting 'modle'. Did you mean model?"),
        (("get", "maxturns"), "Did you mean maxTurns?"),
        (("set", "xyzzy", "1"), "All settings: codeagent config"),
        (("gte", "model"), "Did you mean get?"),
        (("get",), "codeagent config get KEY"),
        (("set", "theme"), "codeagent config set KEY VALUE"),
        (("set", "theme", "blue"), "one of dark, light"),
        (("set", "maxTurns", "many"), "a whole number"),
        (("set", "editor", "emacs", "-nw"), "Unknown flag -nw"),
        (("set", "editor", "code", "wait"), "stands in quotes"),
        (("set", "baseUrl", "http://x", "--project"), "a project cannot set this"),
        (("set", "permissions.defaultMode", "yolo", "--local"), "a project cannot set this"),
        (("set", "theme", "light", "--user", "--local"), "not allowed with"),
        (("path", "x"), "codeagent config path"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(
    words: tuple[str, ...], told: str, here: Path, own: Path, run: Run
) -> None:
    code, out, err = run("config", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert not own.exists()
    assert not (here / ".agent/settings.json").exists()


@pytest.mark.parametrize("text", ['{"theme": "light",}', "[1]", "\x00", '{"a": 1, "a": 2}'])
def test_a_broken_file_is_named_and_never_written_over(text: str, here: Path, own: Path, run: Run) -> None:
    own.parent.mkdir(parents=True)
    own.write_text(text)
    code, _, err = run("config", "set", "theme", "dark")
    assert code == 2
    assert str(own) in err
    assert "left as it is" in err
    assert run("config", "unset", "theme")[0] == 2
    assert own.read_text() == text
    assert f"wrong: {own}" in run("config")[1]


def test_a_link_in_the_place_of_a_file_is_not_followed(here: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (here / ".agent").mkdir()
    (here / ".agent/settings.json").symlink_to(tmp_path / "elsewhere.json")
    code, _, err = run("config", "set", "maxTurns", "3", "--project")
    assert (code, (tmp_path / "elsewhere.json").read_text()) == (2, "{}")
    assert "is a link" in err


def test_path_names_the_files(here: Path, own: Path, run: Run) -> None:
    assert f"user     {own}  (not there)\n" in run("config", "path")[1]
    rows = json.loads(run("config", "path", "--json")[1])
    assert [row["layer"] for row in rows] == ["managed", "local", "project", "user"]
    assert rows[2] == {"layer": "project", "path": f"{here}/.agent/settings.json", "exists": False}


def test_every_subcommand_can_be_called() -> None:
    for target in cli.SUBCOMMANDS.values():
        assert callable(cli._load(target))


def test_what_nobody_set_is_told_with_what_holds_and_its_meaning(here: Path, run: Run) -> None:
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in run("config")[1].splitlines()}
    assert lines["maxTurns"] == "50 (default) steps in a turn before it asks whether to go on"
    assert lines["permissions.deny"] == "none (default) rules: what never runs"
    assert "(nothing)" not in str(lines)
