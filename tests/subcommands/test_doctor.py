"""What doctor finds: through the real program, in a real terminal and against a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.loopback import Loopback


def found(program: Program, *argv: str, code: int = 0, **env: str) -> dict[str, tuple[str, str]]:
    """Name -> state and words; of several with one name the last."""
    done = program.run("doctor", "--json", *argv, env=env)
    assert done.code == code, done.out
    return {row["name"]: (row["state"], row["words"]) for row in json.loads(done.out)}


@pytest.fixture
def program(project: Path, program_env: dict[str, str]) -> Program:
    return Program(project, program_env)


def test_every_point_is_looked_at_and_without_a_key_nobody_is_asked(program: Program) -> None:
    told = found(program)
    names = [
        "codeagent",
        "python",
        "key",
        "keyring",
        "network",
        "git",
        "rg",
        "sandbox",
        "terminal",
        "settings",
        "sessions",
        "disk",
    ]
    assert list(told) == names
    assert told["key"][0] == "missing"
    assert told["network"] == ("note", "https://api.anthropic.com was not asked: there is no key")
    assert told["keyring"][0] == "missing"
    assert "free" in told["disk"][1]


def test_the_configured_address_is_asked_once_and_gets_no_key(program: Program) -> None:
    with Loopback([]) as server:
        env = {"ANTHROPIC_API_KEY": "sk-test-123", "ANTHROPIC_BASE_URL": server.url}
        assert "was not asked: --offline" in found(program, "--offline", **env)["network"][1]
        state, words = found(program, **env)["network"]
    assert (state, words.partition(" answers in ")[0]) == ("ok", f"{server.url} (ANTHROPIC_BASE_URL)")
    [asked] = server.requests
    assert "sk-test-123" not in str(asked.headers)


def test_an_address_where_nobody_answers_is_wrong_and_its_password_is_not_shown(program: Program) -> None:
    env = {"ANTHROPIC_API_KEY": "sk-test-123", "ANTHROPIC_BASE_URL": "http://me:secret@127.0.0.1:9"}
    done = program.run("doctor", env=env)
    assert done.code == 1
    assert "wrong    network" in done.out
    assert "cannot be reached" in done.out
    assert "secret" not in done.out
    assert "sk-test-123" not in done.out


@pytest.mark.parametrize("url", ["ftp://x", "http://[", "nonsense", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_is_a_finding_too(url: str, program: Program) -> None:
    env = {"ANTHROPIC_API_KEY": "sk-test-123", "ANTHROPIC_BASE_URL": url}
    assert found(program, code=1, **env)["network"][0] == "wrong"


def test_settings_are_told_with_where_they_stand_and_a_broken_file_is_wrong(program: Program) -> None:
    program.run("config", "set", "theme", "light")
    own = Path(program.env["XDG_CONFIG_HOME"]) / "codeagent/settings.json"
    assert found(program)["settings"] == ("ok", f"theme = light ({own}:2)")
    own.write_text('{"thmee": "light"}')
    assert found(program)["settings"][0] == "note"
    own.write_text("{")
    state, words = found(program, code=1)["settings"]
    assert state == "wrong"
    assert str(own) in words


@pytest.mark.pty
def test_in_a_terminal_its_abilities_and_the_way_of_a_key_are_measured(program: Program) -> None:
    with program.terminal("doctor", COLORTERM="truecolor") as terminal:
        terminal.wait_for("\x1b[c")
        terminal.type("\x1b[?1u\x1b[?2026;2$y\x1b]11;rgb:ffff/ffff/f0f0\x1b\\\x1b[?62;22c")
        assert terminal.wait() == 0
        shown = " ".join(terminal.text.split())
        assert terminal.modes == terminal.before
    words = "16 million colours, 100x40, Shift+Enter is told from Enter, shows whole frames, light background"
    assert words in shown
    assert "a key's way to the program and back takes" in shown


@pytest.mark.pty
def test_a_terminal_that_answers_nothing_is_not_waited_for(program: Program) -> None:
    with program.terminal("doctor") as terminal:
        assert terminal.wait() == 0
        assert "answers no questions" in " ".join(terminal.text.split())
        assert terminal.modes == terminal.before


@pytest.mark.pty
def test_pressed_keys_are_shown_as_they_arrive(program: Program) -> None:
    with program.terminal("doctor", "--keys") as terminal:
        terminal.wait_for("q or Ctrl+C ends it")
        for keys, shown in (("\x1b[13;2u", r"Shift+Enter    \x1b[13;2u"), ("é", "é"), ("\x0f", r"Ctrl+O         \x0f")):
            terminal.type(keys)
            terminal.wait_for(shown)
        terminal.type("q")
        assert terminal.wait() == 0
        assert terminal.modes == terminal.before


def test_mistakes_are_one_line(program: Program) -> None:
    for argv, words in ((["--keys"], "needs a terminal"), (["--cwd", "/no/such"], "no directory"), (["x"], "'x'")):
        done = program.run("doctor", *argv)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert words in done.err
