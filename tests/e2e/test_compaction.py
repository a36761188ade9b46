"""Sessions longer than the window: summed up on the way, and what matters is still there at the end."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import said, until
from tests.loopback import Loopback, Reply, call, fail, say

STREAM = ("--output-format", "stream-json", "--permission-mode", "bypass")
WORDS = "Read the whole book and tell me its last line. Mind the blue door."


def book(project: Path, pages: int) -> None:
    """A file of which each page of 40 lines takes about a thousand tokens."""
    lines = (f"page {n // 40} line {n % 40}: {'the story goes on and on ' * 4}\n" for n in range(40 * pages))
    (project / "book.txt").write_text("".join(lines))


def script(pages: int) -> str:
    steps = [
        f"--- \ncall read {json.dumps({'file_path': 'book.txt', 'offset': 40 * n + 1, 'limit': 40})}"
        for n in range(pages)
    ]
    summary = "--- summary\nsay 1. Goal: read the book.\n  8. Next step: read on."
    last = "--- \nsay The last line is: {{read ~ (page 399 line 39)}}"
    return "\n".join(["window 60000", *steps, last, summary])


def test_four_hundred_steps_in_a_window_of_sixty_thousand(program: Open, shop: Path) -> None:
    book(shop, 400)
    (shop / "book.script").write_text(script(400))
    made = program()
    ran = made.run("-p", WORDS, *STREAM, "--model", f"script:{shop}/book.script", "--max-turns", "500", seconds=55)
    assert ran.code == 0, ran.err
    assert ran.result["result"] == "The last line is: page 399 line 39"
    cuts = made.of("compacted")
    assert len(cuts) >= 5
    assert all(WORDS in cut["summary"] for cut in cuts)
    assert all(cut["after_tokens"] < 0.8 * cut["before_tokens"] for cut in cuts)
    used = [e["usage"] for e in made.of("assistant_said")]
    assert max(u.get("cache_read", 0) + u.get("cache_write", 0) for u in used) < 45_000
    shown = made.run("sessions", "search", "page 0 line 39")
    assert "page 0 line 39" in shown.out


def long_talk(project: Path, last: list[Reply]) -> list[Reply]:
    """Enough big steps that the next request asks for a summary: the window of an unknown model is 200,000 tokens."""
    book(project, 200)
    return [call("read", file_path="book.txt", offset=40 * 10 * n + 1, limit=400) for n in range(18)] + last


def asks_for_summary(body: dict[str, Any]) -> bool:
    return "write a summary of this conversation" in said(body)


MODEL = ("--model", "gateway-model")


def test_a_kill_in_the_middle_leaves_the_history_whole(program: Open, shop: Path) -> None:
    talk = iter(long_talk(shop, []))
    hanging = Reply(({"type": "text", "text": "1. Goal"},), fault="stall", at=3)

    def answer(body: dict[str, Any]) -> Reply:
        if asks_for_summary(body):
            return hanging
        return next(talk, say("Done."))

    with Loopback(answer, models=["gateway-model"]) as server:
        made = program(server)
        with made.start("-p", WORDS, *STREAM, *MODEL) as running:
            until(lambda: any(e.get("purpose") == "compaction" for e in made.of("asked")), "a compaction", 40)
            until(lambda: asks_for_summary(server.bodies[-1]), "a request for a summary")
            running.signal(signal.SIGKILL)
            running.process.wait(10)
        hanging = say("1. Goal: the book.")
        assert not made.of("compacted")
        ran = made.headless("go on", "-c", "--permission-mode", "bypass")
        assert (ran.code, ran.result["result"]) == (0, "Done."), ran.err
        assert len(made.of("compacted")) == 1
        assert WORDS in said(server.bodies[-1])
        assert not any(seen.problems for seen in server.requests)


@pytest.mark.parametrize("bad", [say("I will not.", stop="refusal"), fail(400, "invalid_request_error", "no")])
def test_a_bad_summary_leaves_everything_as_it_was(program: Open, shop: Path, bad: Reply) -> None:
    talk = iter(long_talk(shop, []))

    def answer(body: dict[str, Any]) -> Reply:
        return bad if asks_for_summary(body) else next(talk, say("Done."))

    with Loopback(answer, models=["gateway-model"]) as server:
        made = program(server)
        ran = made.headless(WORDS, "--permission-mode", "bypass", *MODEL)
        asked = sum(map(asks_for_summary, server.bodies))
    assert (ran.code, ran.result["result"]) == (0, "Done."), ran.err
    assert not made.of("compacted")
    assert asked == 1  # it does not try again at every step
    assert any("Everything is as it was" in note["text"] for note in made.of("noted"))


def test_a_person_sees_the_price_and_changes_the_summary(program: Open, shop: Path) -> None:
    book(shop, 40)
    editor = shop / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i.bak 's/the book/THE GREEN BOOK/' \"$1\"\n")
    editor.chmod(0o755)
    pages = [call("read", file_path="book.txt", offset=200 * n + 1, limit=200) for n in range(6)]
    with Loopback([*pages, say("Read."), say("1. Goal: the book."), say("On.")]) as server:
        made = program(server, EDITOR=str(editor))
        typed = f"{WORDS}\n/compact the door\n1\n2\ngo on\n/cost\n/context\n"
        ran = made.run("--plain", stdin=typed.encode())
        assert ran.code == 0, ran.err
        last = said(server.bodies[-1])
    assert "It costs about $" in ran.out
    assert "In view: the door" in ran.out
    assert "Go on with this summary?" in ran.out
    assert "THE GREEN BOOK" in last
    assert "page 0 line 1:" not in last
    assert "tool results: read" in ran.out
    (cut,) = made.of("compacted")
    assert cut["trigger"] == "manual"
    shown = made.run("--plain", "-c", stdin=b"").out
    assert WORDS in shown  # the history is there to scroll
