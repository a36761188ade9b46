"""Fifty steps with all that may happen in between: what was sent once is read from the cache ever after."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.context import alternating, units
from tests.e2e.conftest import Open
from tests.e2e.program import Running, said
from tests.loopback import Loopback, Reply, say

DIALOGUE = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")


class Disturbed:
    """Fifty replies in a row; before some of them something is done to the session."""

    def __init__(self, project: Path) -> None:
        self.replies = iter(alternating(project))
        self.guidelines = project / "CLAUDE.md"
        self.running: Running | None = None
        self.count = 0

    def send(self, **line: Any) -> None:
        assert self.running
        assert self.running.process.stdin
        self.running.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.running.process.stdin.flush()

    def say(self, text: str) -> None:
        self.send(type="user", message={"role": "user", "content": text})

    def ask(self, subtype: str, **fields: Any) -> None:
        self.send(type="control_request", request_id=subtype, request={"subtype": subtype, **fields})

    def __call__(self, _body: Any) -> Reply:
        self.count += 1
        disturbances: dict[int, Callable[[], object]] = {
            8: lambda: self.guidelines.write_text("Use tabs.\nNever say never.\n"),
            14: lambda: self.ask("set_permission_mode", mode="plan"),
            18: lambda: self.ask("set_permission_mode", mode="default"),
            24: lambda: self.say("Mind the blue door."),
            30: lambda: self.guidelines.write_text("Use blanks.\n"),
            36: lambda: (self.ask("interrupt"), self.say("Go on, please.")),
        }
        disturbances.get(self.count, lambda: None)()
        if self.count == 36:
            return Reply(({"type": "text", "text": "I was about to"},), fault="stall", at=3)
        return next(self.replies, say("done"))


def missed(usages: list[Any]) -> list[int]:
    """Requests that did not read all that the one before had left in the cache."""
    return [
        at
        for at in range(1, len(usages))
        if usages[at]["cache_read_input_tokens"]
        < usages[at - 1]["cache_read_input_tokens"] + usages[at - 1]["cache_creation_input_tokens"]
    ]


def test_no_step_misses_what_could_be_read(program: Open, shop: Path) -> None:
    (shop / "CLAUDE.md").write_text("Use tabs.\n")
    disturbed = Disturbed(shop)
    with Loopback(disturbed) as server:
        made = program(server)
        with made.start(*DIALOGUE, "--max-turns", "80", stdin=subprocess.PIPE) as running:
            disturbed.running = running
            disturbed.say("Go through the files.")
            assert running.process.stdout
            results = 0
            while results < 2:
                results += json.loads(running.process.stdout.readline())["type"] == "result"
            ran = running.ended()
    assert ran.code == 0, ran.err
    assert disturbed.count >= 51
    words = said(server.bodies[-1])
    for told in ("Never say never", "Use blanks", "Plan mode is on", "Plan mode is off", "blue door", "Go on, please"):
        assert told in words, told
    assert not any(seen.problems for seen in server.requests)
    assert missed([seen.usage for seen in server.requests]) == []
    assert not [note for note in made.of("noted") if note.get("topic") == "cache"]


def test_a_resumed_session_sends_the_same_beginning(program: Open, shop: Path) -> None:
    with Loopback([*alternating(shop, 6), say("again"), say("and again")]) as server:
        made = program(server)
        made.headless("go")
        (shop / "AGENTS.md").write_text("A file that came later.\n")
        made.headless("go on", "-c")
        made.headless("and on", "-c")
    first, *_, last = server.bodies
    assert [block["text"] for block in last["system"]] == [block["text"] for block in first["system"]]
    assert missed([seen.usage for seen in server.requests]) == []


def test_fifty_steps_are_cheap(program: Open, shop: Path) -> None:
    with Loopback(alternating(shop)) as server:
        assert program(server).headless("go", "--max-turns", "60").code == 0
    used = [seen.usage for seen in server.requests]
    assert missed(used) == []
    assert sum(map(units, used)) <= 32_000
