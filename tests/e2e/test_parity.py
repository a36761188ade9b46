"""One recording through every front: the same facts in the same order, and the same words to read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import CART, Open
from tests.e2e.program import Program, settled, until
from tests.loopback import Loopback, call, say

SCRIPT = """\
think Where may the fault be?
say I look at the cart.
call read {"file_path": "cart.py"}
call grep {"pattern": "total"}
---
call todo {"todos": [{"content": "mend the cart", "status": "in_progress"}]}
call edit {"file_path": "cart.py", "old_string": "discount / 100", "new_string": "(100 - discount) / 100"}
---
call bash {"command": "python -B -m unittest -q"}
call bash {"command": "ls nothing-there"}
call teleport {"to": "mars"}
---
say The cart is mended.
"""

ALLOWED = ("--permission-mode", "acceptEdits", "--allowed-tools", "Bash(python -B -m unittest:*),Bash(ls:*)")


def renew(shop: Path) -> None:
    """The shop as it was."""
    (shop / "cart.py").write_text(CART)
    shutil.rmtree(shop / "__pycache__", ignore_errors=True)


def facts(made: Program) -> list[dict[str, Any]]:
    """The session's entries without what a front, a clock or chance may choose."""
    found = []
    for entry in made.entries:
        if entry["kind"] in ("heard", "opened"):
            continue
        found.append(json.loads(settled(json.dumps(entry))))
        for name in ("digest", "tail", "tools", "system", "took_ms", "first_ms", "summary"):
            found[-1].pop(name, None)
    return found


def through(front: str, made: Program, script: Path) -> str:
    """Run the recording through a front; what was shown."""
    arguments = ("--model", f"script:{script}", *ALLOWED)
    if front == "headless":
        ran = made.run("-p", "mend it", *arguments)
        assert ran.code == 0, ran.err
        return ran.out + ran.err
    with made.terminal(*(("--plain",) if front == "plain" else ()), *arguments, "mend it") as terminal:
        at = terminal.wait_for("is mended")
        until(lambda: made.of("turn_ended"), "the end of the turn")
        if front == "plain":
            terminal.wait_for("you:", after=at)
        shown = terminal.text
        terminal.type("\x04" if front == "plain" else "\x04\x04")
        assert terminal.wait() == 0
        return shown


@pytest.mark.pty
def test_a_recording_gives_the_same_facts_through_every_front(program: Open, shop: Path, tmp_path: Path) -> None:
    (script := tmp_path / "mend.script").write_text(SCRIPT)
    made = program(PYTHONDONTWRITEBYTECODE="1")  # compiled files hold times, and what a command writes is a fact
    told: dict[str, list[dict[str, Any]]] = {}
    for front in ("headless", "plain", "tui"):
        renew(shop)
        shown = through(front, made, script)
        told[front] = facts(made)
        assert "The cart is mended." in shown, front
        for log in made.logs:
            log.unlink()
    assert [fact["kind"] for fact in told["headless"]][-1] == "turn_ended"
    assert sum(fact["kind"] == "tool_finished" for fact in told["headless"]) == 7
    assert told["plain"] == told["headless"]
    assert told["tui"] == told["headless"]


def test_the_same_script_twice_gives_the_same_events(program: Open, shop: Path, tmp_path: Path) -> None:
    (script := tmp_path / "mend.script").write_text(SCRIPT)
    made = program(PYTHONDONTWRITEBYTECODE="1")
    outputs, logs = [], []
    for _ in range(2):
        renew(shop)
        ran = made.headless("mend it", "--model", f"script:{script}", *ALLOWED, "--include-partial-messages")
        assert ran.code == 0, ran.err
        outputs.append(settled(ran.out))
        logs.append(settled(made.logs[-1].read_text()))
    assert outputs[0] == outputs[1]
    assert logs[0] == logs[1]


def test_the_same_replies_twice_give_the_same_requests(program: Open, shop: Path) -> None:
    replies = [
        say("I look.") + call("read", file_path="cart.py") + call("grep", pattern="total"),
        call("edit", file_path="cart.py", old_string="discount / 100", new_string="(100 - discount) / 100"),
        call("bash", command="cat cart.py; ls nothing-there"),
        say("Done."),
    ]
    sent = []
    for _ in range(2):
        renew(shop)
        with Loopback(replies) as server:
            ran = program(server).headless("mend it", "--permission-mode", "bypass")
            assert ran.code == 0, ran.err
            sent.append([json.dumps(body).encode() for body in server.bodies])
    assert len(sent[0]) == 4
    assert sent[0] == sent[1]
