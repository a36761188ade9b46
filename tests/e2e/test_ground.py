"""Odd ground to stand on: no home, no tools, directories that vanish, readers that are slow, sessions side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Open
from tests.e2e.program import COMMAND, results, said, until
from tests.loopback import Loopback, Reply, call, say


def test_an_almost_empty_environment(program: Open, shop: Path) -> None:
    """A home that cannot be, no locale, no terminal type, nothing on the PATH: still it answers, in UTF-8."""
    replies = [
        call("read", file_path="cart.py") + call("grep", pattern="total") + call("glob", pattern="*.py"),
        say("Grüße."),
    ]
    with Loopback(replies) as server:
        made = program(server)
        keep = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PYTHONPATH")
        bare = {name: made.env[name] for name in keep} | {"HOME": "/dev/null/home", "PATH": "/dev/null", "LC_ALL": "C"}
        done = subprocess.run([*COMMAND, "-p", "go"], env=bare, cwd=shop, capture_output=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "Grüße.\n"
    assert [is_error for _, is_error in results(server.bodies[-1])] == [False] * 3


def test_the_session_directory_vanishes_while_it_runs(program: Open, shop: Path) -> None:
    with Loopback(
        [call("bash", command="rm -rf .agent"), call("read", file_path="cart.py"), say("Still here.")]
    ) as server:
        made = program(server)
        ran = made.headless("go", "--permission-mode", "bypass")
        again = made.headless("more", "-c")
    assert ran.code == 0, ran.err
    assert any("deleted" in line.get("content", "") for line in ran.lines), "it says so"
    assert again.code in (0, 1)
    assert "go" in said(server.bodies[-1])


def test_the_working_directory_vanishes(program: Open, shop: Path) -> None:
    replies = [
        call("bash", command="mkdir sub && cd sub && rm -rf ../sub"),
        call("bash", command="pwd"),
        say("I see."),
    ]
    with Loopback(replies) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
        answers = results(server.bodies[-1])
    assert ran.code == 0, ran.err
    assert len(answers) == 2
    assert str(shop) in answers[1][0] or "gone" in answers[1][0]


def test_a_reader_that_is_slow_loses_nothing(program: Open, shop: Path) -> None:
    """More output than a pipe holds, and nobody reads it until the turn is over."""
    with Loopback([say("word " * 60_000), say("Done.")]) as server:
        made = program(server)
        with made.start("-p", "go", "--output-format", "stream-json", "--include-partial-messages") as running:
            until(lambda: made.of("turn_ended"), "the end of the turn")
            ran = running.ended()
    assert ran.code == 0
    assert ran.result["result"].count("word") == 60_000


def test_two_sessions_of_one_project_side_by_side(program: Open, shop: Path) -> None:
    def answer(body: object) -> Reply:
        words = said(body)
        if not results(body):
            return call("bash", command="sleep 0.1; echo one")
        return say(f"Done {'A' if 'task A' in words else 'B'}.")

    with Loopback(answer) as server:
        made = program(server)
        with made.start("-p", "task A") as one, made.start("-p", "task B") as two:
            ended = [one.ended(), two.ended()]
        assert [ran.code for ran in ended] == [0, 0], [ran.err for ran in ended]
        assert [ran.out for ran in ended] == ["Done A.\n", "Done B.\n"]
        assert len(made.logs) == 2


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(program: Open, shop: Path) -> None:
    other = f"{sys.executable} -c \"open('cart.py', 'a').write('# theirs\\n')\""
    replies = [
        call("read", file_path="cart.py"),
        call("bash", command=other),
        call("write", file_path="cart.py", content="mine\n"),
        say("Oh."),
    ]
    with Loopback(replies) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
    assert ran.code == 0
    assert results(server.bodies[-1])[-1][1]
    assert "# theirs" in (shop / "cart.py").read_text()


def test_a_project_gives_no_permission_before_it_is_trusted(program: Open, shop: Path) -> None:
    (shop / ".agent").mkdir()
    rules = {"permissions": {"allow": ["Bash(touch:*)"]}, "baseUrl": "http://127.0.0.1:1"}
    (shop / ".agent/settings.json").write_text(json.dumps(rules))
    replies = [call("bash", command="touch made"), say("Tried.")]
    with Loopback([*replies, *replies]) as server:
        made = program(server)
        untrusted = made.run("-p", "go")
        assert untrusted.code == 4, untrusted.err
        assert "settings.json" in untrusted.err or "trust" in untrusted.err
        assert not (shop / "made").exists()
        trusted = made.run("-p", "go", "--trust")
        assert trusted.code == 0, trusted.err
        assert (shop / "made").exists()


def test_sessions_have_names_ids_and_may_leave_no_trace(program: Open, shop: Path) -> None:
    with Loopback(lambda body: say(f"{len(body['messages'])} messages.")) as server:
        made = program(server)
        assert made.run("-p", "secret", "--no-session-persistence").out == "1 messages.\n"
        assert not made.logs
        named = made.run("-p", "one", "--name", "the cart", "--session-id", "my-session")
        assert named.code == 0, named.err
        assert [log.stem for log in made.logs] == ["my-session"]
        assert made.run("-p", "two", "-r", "the cart").out == "3 messages.\n"
        assert made.run("-p", "three", "-r", "my-session").out == "5 messages.\n"
        assert made.run("-p", "four", "-r", "my-session", "--fork-session").out == "7 messages.\n"
        assert len(made.logs) == 2
        assert made.run("-p", "five", "--session-id", "my-session").code == 2
