"""What one session learns, another knows; and what its owner says about it counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.conftest import Open
from tests.e2e.program import results, said
from tests.loopback import Loopback, call, say

SAVE = {"action": "save", "name": "Tests", "description": "how the tests are run", "text": "python -m unittest -q"}


def prompt(body: Any) -> str:
    return "\n".join(block["text"] for block in body["system"])


def test_a_session_saves_and_a_new_one_uses_it(program: Open, shop: Path) -> None:
    replies = [
        call("memory", **SAVE),
        say("Noted."),
        call("memory", action="read", name="Tests"),
        say("With unittest."),
        say("I do not know."),
    ]
    with Loopback(replies) as server:
        made = program(server)
        assert made.headless("remember how tests are run", "--allowed-tools", "memory").code == 0
        again = made.headless("how are tests run?")
        assert again.result["result"] == "With unittest."
        assert "- [Tests](tests.md) - how the tests are run" in prompt(server.bodies[2])
        assert "python -m unittest -q" in results(server.bodies[3])[0][0]
        listed = made.run("memory")
        assert "how the tests are run" in listed.out
        assert "unittest" in made.run("memory", "search", "UNITTEST").out
        assert made.run("memory", "search", "nothing of it").code == 1
        assert made.run("memory", "off").code == 0
        assert made.headless("how are tests run?").code == 0
        assert "how the tests are run" not in prompt(server.bodies[4])
    assert "switched off" in made.run("memory").out
    assert (shop / ".agent/memory/tests.md").exists()


def test_the_owner_edits_a_topic_in_an_editor(program: Open, shop: Path) -> None:
    editor = shop / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i.bak 's/unittest/pytest/' \"$1\"\n")
    editor.chmod(0o755)
    with Loopback([call("memory", **SAVE), say("Noted.")]) as server:
        made = program(server, EDITOR=str(editor))
        made.headless("remember", "--allowed-tools", "memory")
    edited = made.run("memory", "edit", "Tests")
    assert edited.code == 0, edited.err
    shown = made.run("memory", "show", "Tests").out
    assert "python -m pytest -q" in shown
    assert "by hand" not in shown


def test_init_is_a_message_to_the_agent(program: Open, shop: Path) -> None:
    with Loopback([call("write", file_path="CLAUDE.md", content="# Shop\n"), say("Written.")]) as server:
        made = program(server)
        ran = made.run("--plain", "--permission-mode", "acceptEdits", stdin=b"/init mind the tests\n")
        assert "Written." in ran.out, ran.out
        assert "mind the tests" in said(server.bodies[0])
    assert (shop / "CLAUDE.md").read_text() == "# Shop\n"
