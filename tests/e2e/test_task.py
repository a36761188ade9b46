"""A whole task, headless: the real program reads, searches, tests, edits and tells about it in three formats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import results
from tests.loopback import Loopback, Reply, call, say

CHECK = "python -m unittest -q"
ALLOWED = ("--permission-mode", "acceptEdits", "--allowed-tools", f"Bash({CHECK}:*)")


def fixing() -> list[Reply]:
    return [
        say("I look at the code.") + call("read", file_path="cart.py") + call("grep", pattern="total"),
        call("bash", command=CHECK),
        call("edit", file_path="cart.py", old_string="discount / 100", new_string="(100 - discount) / 100"),
        call("bash", command=CHECK),
        say("The discount was taken the wrong way round; the test passes now."),
    ]


def test_it_fixes_the_failing_test(program: Open, shop: Path) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).headless("fix the failing test", *ALLOWED)
        before, after = results(server.bodies[2])[-1], results(server.bodies[4])[-1]
    assert ran.code == 0, ran.err
    assert "(100 - discount) / 100" in (shop / "cart.py").read_text()
    assert "FAILED" in before[0]
    assert "OK" in after[0]
    assert (ran.result["subtype"], ran.result["is_error"], ran.result["num_turns"]) == ("success", False, 5)
    assert ran.result["result"] == "The discount was taken the wrong way round; the test passes now."
    assert ran.result["permission_denials"] == []
    assert ran.lines[0]["subtype"] == "init"
    assert [line["type"] for line in ran.lines if line["type"] in ("assistant", "user")] == [
        *("assistant", "user", "user"),
        *("assistant", "user") * 3,
        "assistant",
    ]
    assert not any(seen.problems for seen in server.requests)


def test_a_run_of_one_step_ends_at_the_valve(program: Open, shop: Path) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).headless("fix the failing test", *ALLOWED, "--max-turns", "1")
    assert ran.code == 3
    assert ran.result["subtype"] == "error_max_turns"
    assert ran.result["errors"]
    assert "result" not in ran.result
    assert len(server.requests) == 1


def test_without_rules_the_refusals_go_back_to_the_model(program: Open, shop: Path) -> None:
    before = (shop / "cart.py").read_text()
    with Loopback(fixing()) as server:
        ran = program(server).headless("fix the failing test")
        told = results(server.bodies[-1])
    assert ran.code == 4, ran.err
    assert ran.result["subtype"] == "error_permission_required"
    assert [denial["tool_name"] for denial in ran.result["permission_denials"]] == ["bash", "edit", "bash"]
    assert ran.result["permission_denials"][1]["tool_input"]["file_path"] == "cart.py"
    assert [is_error for _, is_error in told] == [False, False, True, True, True]
    assert (shop / "cart.py").read_text() == before
    assert "--allowed-tools" in ran.err


def test_refusals_are_the_wish_of_dont_ask(program: Open) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).headless("fix the failing test", "--permission-mode", "dontAsk")
    assert ran.code == 0
    assert len(ran.result["permission_denials"]) == 3


def test_text_mode_tells_the_story_on_standard_error(program: Open) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).run("-p", "fix the failing test", *ALLOWED)
    assert ran.code == 0
    assert ran.out == "The discount was taken the wrong way round; the test passes now.\n"
    story = ran.err.splitlines()
    for line in ("[step 1] read(", "[step 2] bash(", "[step 3] edit(", "[step 4] bash(", "[step 5] stopped: end_turn"):
        assert any(told.startswith(line) for told in story), ran.err
    assert story[story.index(next(t for t in story if t.startswith("[step 3]"))) + 1].startswith("  "), ran.err
    assert re.fullmatch(
        r"4 tool steps, 5 requests, [\d,.]+k? tokens \(\d+ % cached\), \$\d+\.\d+, \d+\.\d s", story[-1]
    ), story[-1]


def test_quiet_text_is_the_answer_alone(program: Open) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).run("-p", "fix the failing test", *ALLOWED, "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == 1


def test_json_is_one_object(program: Open) -> None:
    with Loopback(fixing()) as server:
        ran = program(server).run("-p", "fix the failing test", *ALLOWED, "--output-format", "json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["type"], found["subtype"], found["num_turns"]) == ("result", "success", 5)
    assert found["usage"]["output_tokens"] > 0
    assert found["session_id"]


@pytest.mark.parametrize(
    "arguments",
    [(), ("--output-format", "json"), ("--output-format", "stream-json")],
    ids=["text", "json", "stream-json"],
)
def test_a_failed_run_never_looks_like_a_success(program: Open, arguments: tuple[str, ...]) -> None:
    with Loopback([Reply(status=400, type="invalid_request_error", message="no good")]) as server:
        ran = program(server).run("-p", "hello", *arguments)
    assert ran.code == 1
    assert "no good" in ran.err
    if arguments:
        assert "no good" in str(ran.result["errors"])
        assert ran.result["is_error"]
        assert "result" not in ran.result
    else:
        assert ran.out == ""


def test_standard_input_joins_the_prompt(program: Open) -> None:
    with Loopback([say("Fine."), say("Fine too.")]) as server:
        made = program(server)
        made.run("-p", "review this", stdin=b"+ a line\n")
        made.run("-p", stdin=b"only this\n")
    assert server.bodies[0]["messages"][0]["content"][0]["text"] == "review this\n\n+ a line"
    assert server.bodies[1]["messages"][0]["content"][0]["text"] == "only this"
