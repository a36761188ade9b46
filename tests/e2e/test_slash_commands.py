"""Every slash command that is promised, in the real program: plain lines, and the full screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.fronts.command_names import ALIASES, COMMANDS
from tests.e2e.conftest import Open

PROMISED = (
    "/help",
    "/clear",
    "/new",
    "/resume",
    "/fork",
    "/rename",
    "/rewind",
    "/undo",
    "/export",
    "/copy",
    "/diff",
    "/plan",
    "/compact",
    "/context",
    "/cost",
    "/model",
    "/effort",
    "/mode",
    "/permissions",
    "/audit",
    "/inspect",
    "/memory",
    "/init",
    "/jobs",
    "/later",
    "/config",
    "/status",
    "/doctor",
    "/vim",
    "/exit",
)

TALK: tuple[tuple[str, str], ...] = (
    ("read cart.py", "cart.py"),
    ("/help", "/doctor"),
    ("/rename the cart", "now called the cart"),
    ("/fork", "This is a copy now"),
    ("/rewind", "read cart.py"),
    ("/undo", "read cart.py"),
    ("/export talk.md", "Written to"),
    ("/copy", "answer"),
    ("/diff", "changed no file"),
    ("/plan", "mode: plan"),
    ("/mode default", "mode: default"),
    ("/compact", "too little to sum up"),
    ("/context", "tool"),
    ("/cost", "token"),
    ("/model", "Change it: /model NAME"),
    ("/effort", "Effort"),
    ("/permissions bash rm -rf build", "ask"),
    ("/audit", "read"),
    ("/inspect", "prompt"),
    ("/memory", "remember"),
    ("/jobs", "Nothing runs"),
    ("/later x", "just say it"),
    ("/config vim", "default"),
    ("/config model", "command line"),
    ("/config maxTurns 70", "maxTurns is 70 now"),
    ("/config maxTurns lots", "a whole number"),
    ("/config modle x", "Did you mean model?"),
    ("/theme blue", "one of dark, light"),
    ("/vim", "Vim's keys are on"),
    ("/config vim", "settings.json:3"),
    ("/status", "the cart"),
    ("/doctor", "python"),
    ("/resume", "the cart"),
    ("/clear", "codeagent in"),
    ("/NEW", "codeagent in"),
    ("/init", "guidelines"),
    ("/contxt", "Did you mean /context?"),
)


def test_all_that_is_promised_is_there() -> None:
    assert set(PROMISED) <= {command.name for command in COMMANDS} | set(ALIASES)
    spoken = {line.split()[0].lower() for line, _ in TALK}
    assert set(PROMISED) - spoken <= {"/exit"}


@pytest.mark.parametrize("leave", ["/exit", "/quit", "exit", "quit"])
def test_words_that_leave(leave: str, program: Open) -> None:
    done = program().run("--plain", "--model", "offline", stdin=f"{leave}\nread cart.py\n".encode())
    assert done.code == 0
    assert "cart.py" not in done.out.rpartition(leave)[2]


def test_each_does_something_in_plain_lines(program: Open, shop: Path) -> None:
    made = program()
    typed = "".join(f"{line}\n" for line, _ in TALK)
    done = made.run("--plain", "--model", "offline", stdin=f"{typed}/exit\n".encode(), seconds=50)
    assert done.code == 0, done.err
    told = done.out
    for line, words in TALK:
        before, found, told = told.partition(f"you: {line}\n")
        assert found, f"{line} was not read behind:\n{before}"
        answer = told if line == "/init" else told.partition("\nyou: ")[0]
        assert words in answer, f"{line} gave:\n{answer}"
        assert line in ("/init", "/contxt") or "There is no command" not in answer
    own = Path(made.env["XDG_CONFIG_HOME"]) / "codeagent/settings.json"
    assert json.loads(own.read_text()) == {"maxTurns": 70, "vim": True}
    assert (shop / "talk.md").exists()
    titles = [each["title"] for each in json.loads(made.run("sessions", "--json").out)]
    assert titles.count("the cart") == 2, "the copy and the session itself"
