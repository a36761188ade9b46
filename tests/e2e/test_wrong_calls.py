"""A model that calls each tool wrongly ten times, in different ways: it is told what is wrong, and all ends well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.conftest import Open
from tests.loopback import Loopback, Reply, call, fail, raw_call, say

WRONG: dict[str, list[Any]] = {
    "read": [
        {},
        {"path": "cart.py"},
        {"file_path": 5},
        {"file_path": ""},
        {"file_path": "crat.py"},
        {"file_path": "cart.py", "offset": -1},
        {"file_path": "cart.py", "limit": "many"},
        {"file_path": "."},
        {"file_path": "a\0b"},
        '{"file_path": "cart.p',
    ],
    "write": [
        {},
        {"file_path": "x"},
        {"content": "x"},
        {"file_path": "cart.py", "content": "not read before"},
        {"file_path": "cart.py/x", "content": "x"},
        {"file_path": ".", "content": "x"},
        {"file_path": ["x"], "content": "x"},
        {"file_path": "x", "content": 5},
        {"file_path": "", "content": ""},
        "null",
    ],
    "edit": [
        {},
        {"file_path": "cart.py", "old_string": "sum", "new_string": "max"},
        {"file_path": "nothing.py", "old_string": "a", "new_string": "b"},
        {"file_path": "cart.py", "old_string": "sum"},
        {"file_path": "cart.py", "old_string": "", "new_string": "b"},
        {"file_path": "cart.py", "edits": []},
        {"file_path": "cart.py", "edits": [{"old_string": "sum"}]},
        {"file_path": "cart.py", "old_string": "a", "new_string": "b", "replace_all": "often"},
        {"file_path": "cart.py", "search": "a", "replace": "b"},
        "[1]",
    ],
    "grep": [
        {},
        {"pattern": "("},
        {"pattern": 5},
        {"pattern": "x", "path": "nowhere"},
        {"pattern": "x", "type": "klingon"},
        {"pattern": "x", "output_mode": "all"},
        {"pattern": "x", "before": -1},
        {"pattern": "x", "regex": True},
        {"pattern": "a\0"},
        "",
    ],
    "glob": [
        {},
        {"pattern": ""},
        {"pattern": ["*"]},
        {"pattern": "*", "path": "nowhere"},
        {"pattern": "*", "path": "cart.py"},
        {"pattern": "*", "limit": 5},
        {"pattern": None},
        {"pattern": "a\0"},
        {"glob": "*"},
        '"*"',
    ],
    "bash": [
        {},
        {"command": "  "},
        {"command": ["ls"]},
        {"command": "exit 3"},
        {"command": "no_such_program_at_all"},
        {"command": "ls", "timeout": -1},
        {"command": "ls\0"},
        {"job": "job9"},
        {"command": "ls", "job": "job9"},
        {"command": "ls", "cwd": "nowhere"},
    ],
    "todo": [
        {},
        {"todos": "all"},
        {"todos": [{}]},
        {"todos": [{"content": "x"}]},
        {"todos": [{"content": "x", "status": "later"}]},
        {"todos": [{"content": "", "status": "pending"}]},
        {"todos": {"a": 1}},
        {"todos": [5]},
        {"items": []},
        "true",
    ],
    "ask_user": [
        {},
        {"questions": []},
        {"questions": "what?"},
        {"questions": [{}]},
        {"questions": [{"question": 5}]},
        {"questions": [{"question": "a", "options": "b"}]},
        {"questions": [{"question": "a", "options": [{}]}]},
        {"questions": [{"question": "what?"}]},
        {"question": "what?"},
        "{",
    ],
    "memory": [
        {},
        {"action": "forget"},
        {"action": "read"},
        {"action": "read", "name": "nothing-of-this-name"},
        {"action": "save", "name": "x"},
        {"action": "search", "query": 5},
        {"action": "delete"},
        {"action": "search"},
        {"action": 5},
        "7",
    ],
    "web_fetch": [
        {},
        {"url": "cart.py"},
        {"url": 5},
        {"url": "ftp://example.org/"},
        {"url": "http://127.0.0.1:1/"},
        {"url": "http://me:secret@example.org/"},
        {"url": "http://"},
        {"url": ""},
        {"link": "https://example.org/"},
        "{]",
    ],
    "teleport": [{"to": n} for n in range(10)],
}


def step(at: int) -> Reply:
    """One wrong call of every tool."""
    reply = Reply()
    for tool, wrong in WRONG.items():
        reply += raw_call(tool, wrong[at]) if isinstance(wrong[at], str) else call(tool, **wrong[at])
    return reply


def test_ten_wrong_calls_of_every_tool(program: Open, shop: Path) -> None:
    before = (shop / "cart.py").read_bytes()
    with Loopback([*map(step, range(10)), say("I give up, and say so.")]) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass", "--no-session-persistence")
    assert (ran.code, ran.result["result"]) == (0, "I give up, and say so."), ran.result
    for at in range(10):
        told = server.bodies[at + 1]["messages"][-1]["content"]
        results = [part for part in told if part["type"] == "tool_result"]
        for tool, result in zip(WRONG, results, strict=False):
            text = " ".join(part["text"] for part in result["content"])
            assert result.get("is_error"), (tool, WRONG[tool][at], text)
            assert "failed inside" not in text, (tool, WRONG[tool][at], text)
            assert len(text) > 10
    assert (shop / "cart.py").read_bytes() == before
    assert sorted(each.name for each in shop.iterdir()) == ["cart.py", "test_cart.py"]


def test_a_picture_that_the_server_cannot_read_does_not_end_the_session(program: Open, shop: Path) -> None:
    gif = "47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b"
    (shop / "dot.gif").write_bytes(bytes.fromhex(gif))
    refused = fail(400, "invalid_request_error", "Could not process image")
    with Loopback([call("read", file_path="dot.gif"), refused, say("A dot.")]) as server:
        ran = program(server).headless("look")
    assert (ran.code, ran.result["result"]) == (0, "A dot."), ran.err
    assert '"image"' in str(server.bodies[1]).replace("'", '"')
    assert '"image"' not in str(server.bodies[2]).replace("'", '"')
