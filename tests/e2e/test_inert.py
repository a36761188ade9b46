"""Hostile text through the printing fronts and the subcommands, on the bytes of a pseudo-terminal."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.fronts.pseudo_terminal import PseudoTerminal
from tests.hostile import ROWS, SHORT, leaks
from tests.loopback import Loopback, call, say

pytestmark = pytest.mark.pty
WORDS = "\n\n".join(text for text in SHORT if not any(0xD800 <= ord(char) < 0xE000 for char in text))

LINE = WORDS.replace("\0", "").replace("'", "")[:3000]
"""What an argument of a program can hold."""


@pytest.fixture
def hostile(shop: Path) -> Path:
    """A project whose files, and one file's name, would control a terminal."""
    for row in ROWS:
        if "b64" in row or "text" in row:
            data = base64.b64decode(row["b64"]) if "b64" in row else row["text"].encode("utf-8", "replace")
            (shop / f"{row['id']}.txt").write_bytes(data + b"\n")
    (shop / "a\x1b]0;title\x07b\x1b[2Jafter.txt").write_text("x\n")
    return shop


REPLIES = [
    call("bash", command="cat *.txt; ls") + call("glob", pattern="*") + call("grep", pattern="before"),
    call("bash", command=f"printf %s '{LINE}'"),
    call("ask_user", question=WORDS[:2000], header=WORDS[:40], options=[{"label": WORDS[:80], "description": WORDS}]),
    say(WORDS),
]


def clean_bytes(terminal: PseudoTerminal) -> None:
    assert leaks(terminal.raw) == []
    assert b"\x1b]0;title" not in terminal.raw
    assert b"\x1b[2Jafter" not in terminal.raw


def test_headless_on_a_terminal(program: Open, hostile: Path) -> None:
    with Loopback(REPLIES) as server, program(server).terminal("-p", "go", "--verbose") as terminal:
        assert terminal.wait() in (0, 4)
    assert "before" in terminal.text
    clean_bytes(terminal)


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_the_plain_front_and_its_questions(program: Open, hostile: Path, term: str) -> None:
    (hostile / ".agent").mkdir()
    (hostile / ".agent/settings.json").write_text('{"permissions": {"allow": ["bash(\\u001b[2Jafter *)"]}}')
    with Loopback(REPLIES) as server, program(server).terminal("--plain", "go", TERM=term) as terminal:
        at = 0
        for _ in range(3):
            at = terminal.wait_for("answer: ", after=at)
            terminal.type("1\n")
        terminal.wait_for("[default", after=at)
        terminal.process.terminate()
        terminal.wait()
    clean_bytes(terminal)


def test_subcommands(program: Open, hostile: Path) -> None:
    with Loopback(REPLIES) as server:
        made = program(server)
        made.run("-p", LINE[:500], "--permission-mode", "acceptEdits", "--name", "a\x1b]0;title\x07 \x1b[2Jafter")
    (hostile / ".agent/settings.json").write_text('{"permissions": {"allow": ["bash(\\u001b[2Jafter *)"]}}')
    (hostile / ".agent/tools").mkdir()
    (hostile / ".agent/tools/\x1b[2Jafter.json").write_text("{}")
    (session,) = (log.stem for log in made.logs)
    for words in (
        ("sessions", "list"),
        ("sessions", "show", session),
        ("sessions", "search", "before"),
        ("audit", session),
        ("inspect", session),
        ("replay", session),
        ("trust",),
        ("permissions",),
        ("permissions", "why", "bash", "\x1b[2Jafter"),
        ("doctor",),
        ("models",),
        ("-r", "\x1b[2Jafter", "-p", "x"),
        ("--\x1b[2Jafter",),
    ):
        with made.terminal(*words) as terminal:
            assert terminal.wait() in (0, 1, 2, 5), words
        assert terminal.raw, words
        clean_bytes(terminal)
        assert "Traceback" not in terminal.text
