"""Kill -9 at any moment, then go on: what was seen is there, what is unknown is called so, nothing runs twice."""

from __future__ import annotations

import json
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from codeagent.host.sandbox import find
from tests.e2e.conftest import Open
from tests.e2e.program import Program, Running, alive, results, said, until
from tests.loopback import Loopback, Reply, call, say

STREAM = ("--output-format", "stream-json", "--permission-mode", "bypass", "--include-partial-messages")


def killed(running: Running) -> bytes:
    running.signal(signal.SIGKILL)
    out, _ = running.process.communicate(timeout=10)
    assert running.process.returncode == -signal.SIGKILL
    return bytes(out)


def test_the_words_of_a_cut_off_reply_are_shown_when_one_comes_back(program: Open) -> None:
    pieces = [f"piece{n:03d}".ljust(40, ".") for n in range(300)]
    with Loopback([say("".join(pieces), delay=0.05)]) as server:
        made = program(server)
        with made.start("-p", "tell me", *STREAM) as running:
            until(lambda: made.of("heard"), "words on record")
            killed(running)
        back = made.run("--plain", "-r", made.logs[0].stem)
    assert back.code == 0
    assert "piece000" in back.out
    assert "cut off here" in back.out


def words_of(line: bytes) -> str:
    event = json.loads(line).get("event", {}) if line.endswith(b"\n") else {}
    return str(event.get("delta", {}).get("text", ""))


def test_while_words_stream(program: Open) -> None:
    """At most the last half second of words may be gone; 0.05 s a piece, so at most a dozen pieces."""
    pieces = [f"piece{n:03d}".ljust(40, ".") for n in range(300)]
    with Loopback([say("".join(pieces), delay=0.05), say("Here.")]) as server:
        made = program(server)
        with made.start("-p", "tell me", *STREAM) as running:
            assert running.process.stdout
            seen = ""
            while "piece040" not in seen:
                seen += words_of(running.process.stdout.readline())
            seen += "".join(map(words_of, killed(running).splitlines(keepends=True)))
        kept = "".join(entry["text"] for entry in made.of("heard"))
        assert seen.startswith(kept)
        assert len(seen) - len(kept) <= 12 * 40
        again = made.headless("go on", "-c")
    assert (again.code, again.result["result"]) == (0, "Here."), again.err
    assert "tell me" in said(server.bodies[1])
    assert "go on" in said(server.bodies[1])
    assert not server.requests[1].problems


def test_while_a_command_runs(program: Open, shop: Path) -> None:
    command = "echo once >>ran; echo $$ >pid; exec sleep 300"
    with Loopback([call("read", file_path="cart.py") + call("bash", command=command), say("I look first.")]) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM) as running:
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            killed(running)
        again = made.headless("go on", "-c")
        answers = results(server.bodies[1])
    assert (again.code, again.result["result"]) == (0, "I look first."), again.err
    assert "The cart." in answers[0][0]
    assert answers[1][1]
    assert "unknown" in answers[1][0]
    assert (shop / "ran").read_text() == "once\n"
    assert not server.requests[1].problems
    (notice,) = [line["content"] for line in again.lines if "cut off while bash ran" in line.get("content", "")]
    assert "echo once" in notice, "the person is told as well"
    assert not alive(int((shop / "pid").read_text())), "what was left running is ended before the session goes on"


def test_between_a_result_and_the_next_reply(program: Open, shop: Path) -> None:
    with Loopback([call("bash", command="echo once >>ran"), Reply(fault="stall", at=1), say("Done.")]) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM) as running:
            until(lambda: len(server.requests) == 2, "a second request")
            killed(running)
        again = made.headless("go on", "-c")
    assert (again.code, again.result["result"]) == (0, "Done."), again.err
    assert len(results(server.bodies[2])) == 1
    assert server.bodies[2]["messages"][: len(server.bodies[1]["messages"]) - 1] == server.bodies[1]["messages"][:-1]
    assert (shop / "ran").read_text() == "once\n"
    assert not server.requests[2].problems


def grown(made: Program, entries: int) -> bool:
    return len(made.entries) >= entries


def test_at_many_moments(program: Open, shop: Path) -> None:
    """Killed after so many more log lines, resumed, and killed again: one session that lives through it all."""
    steps = [call("bash", command=f"echo {n} >>ran") for n in range(40)]
    with Loopback([*steps, say("Done.")]) as server:
        made = program(server)
        for more in (9, 5, 3, 12, 8):
            wanted = len(made.entries) + more
            with made.start("-p", "go on", *STREAM, *(["-c"] if made.logs else [])) as running:
                until(partial(grown, made, wanted), f"{wanted} entries")
                before = made.entries
                killed(running)
            assert made.entries[: len(before)] == before
        assert len(made.logs) == 1
        assert not any(seen.problems for seen in server.requests)
    ran = [int(line) for line in (shop / "ran").read_text().split()]
    assert ran
    assert len(set(ran)) == len(ran), "nothing ran twice"
    told = [entry["text"] for entry in made.of("noted") if "cut off" in entry["text"]]
    assert len(set(told)) == len(told), "each is told once"


@pytest.mark.parametrize("damage", ["torn", "flipped"])
def test_a_damaged_log_loads_with_a_notice(damage: str, program: Open) -> None:
    with Loopback([say("One."), say("Two.")]) as server:
        made = program(server)
        made.headless("first")
        (log,) = made.logs
        data = log.read_bytes()
        if damage == "torn":
            log.write_bytes(data + b'{"seq":99,"at":1,"crc":"00')
        else:
            at = data.index(b"One.")
            log.write_bytes(data[:at] + b"0ne." + data[at + 4 :])
        again = made.headless("second", "-c")
    assert again.code == 0, again.err
    assert "first" in said(server.bodies[1])
    assert not server.requests[1].problems
    assert any(line.get("subtype") == "informational" and line["level"] == "warning" for line in again.lines), again.out


def conversation(made: Program, *turns: str) -> None:
    """The turns in one process: the plain front, fed by a pipe."""
    done = made.run("--plain", "--permission-mode", "bypass", stdin="".join(f"{turn}\n" for turn in turns).encode())
    assert done.code == 0, done.err


def test_a_resumed_session_sends_what_one_that_never_stopped_sends(program: Open, shop: Path) -> None:
    replies = [
        say("I look.") + call("read", file_path="cart.py"),
        say("I see.") + call("bash", command="echo hello; false"),
        say("One."),
        say("Two."),
    ]
    bodies = []
    for stops in (False, True):
        with Loopback(replies) as server:
            made = program(server)
            if stops:
                conversation(made, "first")
                done = made.run("--plain", "-c", "--permission-mode", "bypass", stdin=b"second\n")
                assert done.code == 0, done.err
            else:
                conversation(made, "first", "second")
            bodies.append([json.dumps(body).encode() for body in server.bodies])
        subprocess.run(["rm", "-rf", str(shop / ".agent")], check=True)
    assert len(bodies[0]) == 4
    assert bodies[0] == bodies[1]


def test_a_session_is_open_once(program: Open) -> None:
    with Loopback([say("slow " * 100, delay=0.2), say("Ok.")]) as server:
        made = program(server)
        with made.start("-p", "go", *STREAM) as running:
            until(lambda: server.requests, "a request")
            second = made.run("-p", "too", "-c")
            fork = made.run("-p", "too", "-c", "--fork-session")
            running.signal(signal.SIGTERM)
            running.ended()
    assert second.code == 1
    assert "--fork-session" in second.err
    assert fork.code == 0, fork.err


@pytest.mark.skipif(not find(), reason="no bubblewrap")
def test_the_private_directory_of_commands_goes_with_the_next_start(program: Open, shop: Path, tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    with Loopback([call("bash", command="echo x >/tmp/left; touch began; sleep 300"), say("Here.")]) as server:
        made = program(server, TMPDIR=str(place), CODEAGENT_SANDBOX="on")
        with made.start("-p", "go", *STREAM) as running:
            until(lambda: (shop / "began").exists(), "a command that runs")
            killed(running)
        (left,) = place.glob("codeagent-*")
        assert (left / "left").exists()
        assert made.run("-p", "go").code == 0
        until(lambda: not left.exists(), "the end of what was left")
