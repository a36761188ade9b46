"""What codeagent knows stays where it belongs: keys, logs, and the one address that it talks to."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from tests.e2e.conftest import Open
from tests.e2e.program import results
from tests.loopback import Loopback, Reply, call, say

KEY = "sk-ant-api03-Not0A0Real0Key-" + "q7" * 20


def test_the_key_reaches_no_child_no_log_and_no_output(program: Open, shop: Path, home: Path) -> None:
    (shop / "notes.txt").write_text(f"the key is {KEY}\n")
    replies = [
        call("bash", command="env | sort; echo name=$ANTHROPIC_API_KEY"),
        call("bash", command="cat notes.txt") + call("read", file_path="notes.txt"),
        say("I will not repeat it."),
    ]
    with Loopback(replies, key=KEY) as server:
        made = program(server)
        made.env["ANTHROPIC_API_KEY"] = KEY
        made.env["COPY_OF_IT"] = f"prefix-{KEY}"
        ran = made.run(
            *("-p", "go", "--output-format", "stream-json", "--include-partial-messages"),
            *("--permission-mode", "bypass", "--debug-file", str(shop / "debug.log"), "--verbose"),
        )
    assert ran.code == 0, ran.err
    environment = results(server.bodies[1])[0][0]
    assert "PATH=" in environment
    assert "name=\n" in environment + "\n"
    assert "COPY_OF_IT" not in environment
    for body in server.bodies:
        assert KEY not in str(body)
    assert KEY not in ran.out + ran.err
    for path in (*shop.rglob("*"), *home.rglob("*")):
        if path.is_file() and path.name != "notes.txt":
            assert KEY.encode() not in path.read_bytes(), path


def test_a_key_that_comes_in_pieces_is_shown_and_kept_nowhere(program: Open, shop: Path) -> None:
    """In pieces of five characters, so slowly that words are put on record meanwhile."""
    words = f"The key is {KEY}, I said, {KEY} and that {KEY} is all."
    spoken = Reply(({"type": "text", "text": words, "cut": 5},))
    with Loopback([spoken], key=KEY, delay=0.02) as server:
        made = program(server)
        made.env["ANTHROPIC_API_KEY"] = KEY
        ran = made.run("-p", "go", "--output-format", "stream-json", "--include-partial-messages", "--verbose")
    assert ran.code == 0, ran.err
    deltas = [line["event"].get("delta", {}) for line in ran.lines if line["type"] == "stream_event"]
    assert "".join(delta.get("text", "") for delta in deltas) == words.replace(KEY, "[key withheld]")
    (log,) = made.logs
    assert '"kind":"heard"' in log.read_text()
    for text in (log.read_text(), ran.out, ran.err):
        assert not any(KEY[at : at + 10] in text for at in range(len(KEY) - 10))


def test_what_it_writes_is_for_its_owner_alone(program: Open, shop: Path, home: Path) -> None:
    replies = [call("bash", command="seq 20000"), call("memory", action="list"), say("Done.")]
    with Loopback(replies) as server:
        made = program(server)
        old = os.umask(0o022)
        try:
            ran = made.headless("go", "--permission-mode", "bypass")
        finally:
            os.umask(old)
    assert ran.code == 0, ran.err
    written = [*(shop / ".agent").rglob("*"), *(home / ".local/state/codeagent").rglob("*")]
    assert any(path.suffix == ".jsonl" for path in written)
    for path in (shop / ".agent", *written):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.name != ".gitignore":
            assert mode == (0o700 if path.is_dir() else 0o600), f"{path}: {mode:o}"


def test_it_talks_to_its_base_url_alone(program: Open) -> None:
    """Whatever goes to another host would go through this proxy, which only counts."""
    with socket.create_server(("127.0.0.1", 0)) as trap, Loopback([say("Hello.")]) as server:
        trap.setblocking(False)
        proxy = f"http://127.0.0.1:{trap.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        made = program(server, **dict.fromkeys(names, proxy), NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
        ran = made.headless("go")
        assert ran.code == 0, ran.err
        assert [seen.path for seen in server.requests] == ["/v1/messages"]
        try:
            connection, _ = trap.accept()
        except BlockingIOError:
            return
        connection.close()
        raise AssertionError("something was sent to another host")
