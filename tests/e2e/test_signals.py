"""Signals and broken pipes, headless: everything ends in time, the result is told once, and one can go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND, alive, results, said, until
from tests.loopback import Loopback, call, say

CHAIN = "bash -c 'echo $$ >one; trap \"\" TERM; (echo $BASHPID >two; sleep 300) & sleep 301'"
"""A tree of three that does not hear TERM."""

STREAM = ("--output-format", "stream-json", "--permission-mode", "bypass")
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(autouse=True)
def signals_as_at_login() -> Iterator[None]:
    """A test run under `nohup` hands its ignored SIGHUP on, which the program would rightly respect."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_while_a_command_runs(number: signal.Signals, program: Open, shop: Path) -> None:
    replies = [call("read", file_path="cart.py") + call("bash", command=CHAIN), say("Here I am again.")]
    with Loopback(replies) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM) as running:
            until(
                lambda: all((shop / name).exists() and (shop / name).read_text() for name in ("one", "two")), "a tree"
            )
            tree = [int((shop / name).read_text()) for name in ("one", "two")]
            began = time.monotonic()
            running.signal(number)
            ran = running.ended()
            took = time.monotonic() - began
        assert not any(alive(pid) for pid in tree)
        assert took < 2.5 + 1.5, f"{took:.1f} s: 2.5 s for the tree, the rest for a busy machine"
        assert (ran.code, ran.result["subtype"]) == (CODES[number], "error_during_execution"), ran.err
        assert ran.result["terminal_reason"] == "aborted_tools"
        assert made.of("turn_ended")[0]["why"] == "interrupted"
        again = made.headless("go on", "-c")
    assert (again.code, again.result["result"]) == (0, "Here I am again."), again.err
    (read, bash) = results(server.bodies[1])
    assert "The cart." in read[0], "what was completed is kept"
    assert bash[1]
    assert "interrupted" in said(server.bodies[1])
    assert not server.requests[1].problems


def test_a_signal_while_words_stream(program: Open) -> None:
    words = " ".join(f"word{n}" for n in range(400))
    with Loopback([say(words, delay=0.05), say("Again.")]) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM, "--include-partial-messages", stdout=subprocess.PIPE) as running:
            assert running.process.stdout
            seen = b""
            while b"word20" not in seen:
                seen += running.process.stdout.readline()
            running.signal(signal.SIGTERM)
            ran = running.ended()
        assert server.left.wait(5), "the stream was closed"
        lines = [line for line in ran.lines if line["type"] != "stream_event"]
        assert ran.code == 143
        assert [line["type"] for line in lines] == ["assistant", "result"]
        assert lines[0]["aborted"]
        assert lines[1]["terminal_reason"] == "aborted_streaming"
        again = made.headless("go on", "-c")
    assert again.code == 0
    assert "word20" in said(server.bodies[1]), "half an answer is kept"
    assert not server.requests[1].problems


def test_two_signals_do_not_leave_anything_behind(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command=CHAIN)]) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM) as running:
            until(lambda: (shop / "two").exists() and (shop / "two").read_text(), "a tree")
            tree = [int((shop / name).read_text()) for name in ("one", "two")]
            running.signal(signal.SIGINT)
            running.signal(signal.SIGTERM)
            ran = running.ended()
    assert ran.code in (130, 143)
    assert ran.result["subtype"] == "error_during_execution"
    assert not any(alive(pid) for pid in tree)


def test_a_reader_that_leaves_ends_the_run(program: Open, shop: Path) -> None:
    with Loopback([say("I look.") + call("bash", command=CHAIN), say("Again.")]) as server:
        made = program(server)
        line = f"{COMMAND[0]} -m codeagent -p go {' '.join(STREAM)} | head -c 1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", line], env=made.env, cwd=shop, capture_output=True, check=False, timeout=20
        )
        assert done.returncode == 141
        assert done.stdout == b"{"
        assert b"Traceback" not in done.stderr
        if (shop / "two").exists():
            assert not alive(int((shop / "two").read_text() or 0))
        assert made.of("turn_ended"), "the log is complete"
        again = made.headless("go on", "-c")
    assert again.code == 0


def test_nohup_stays_in_force(program: Open) -> None:
    with Loopback([call("bash", command="kill -HUP $PPID; echo sent"), say("Done.")]) as server:
        made = program(server)
        line = f"nohup {COMMAND[0]} -m codeagent -p go --permission-mode bypass"
        done = subprocess.run(["bash", "-c", line], env=made.env, cwd=made.project, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Done." in done.stdout


def test_background_commands_end_with_the_run(program: Open, shop: Path) -> None:
    replies = [
        call("bash", command="echo $$ >job; exec sleep 300", run_in_background=True),
        call("bash", command="until [ -s job ]; do sleep 0.02; done"),
        say("It runs."),
    ]
    with Loopback(replies) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
    assert ran.code == 0, ran.err
    assert not alive(int((shop / "job").read_text()))
    assert re.search(r"\d", results(server.bodies[1])[0][0])
    assert os.path.exists(shop / "job")
