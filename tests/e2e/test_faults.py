"""A model and a network that fail in every way: each run ends well, in words, and nothing is half run."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import results
from tests.loopback import Loopback, Reply, call, fail, raw_call, say

TOUCH = ("--allowed-tools", "Bash(touch:*)")


def touching(**fault: object) -> Reply:
    """Words and a call that leaves a file; with a fault, the stream breaks inside."""
    return replace(say("I touch a file now.") + call("bash", command="touch ran"), **fault)  # type: ignore[arg-type]


PASSING = {
    "429": (fail(429, "rate_limit_error", "slow down", retry_after="0.1"), "rate_limit"),
    "529": (fail(529, "overloaded_error", "too many of you", retry_after="0.1"), "overloaded"),
    "reset within words": (touching(fault="reset", at=2), "connection"),
    "overloaded within a call": (
        touching(fault="error", at=6, type="overloaded_error", message="too many of you"),
        "overloaded",
    ),
    "truncated before the end": (touching(fault="cut", at=8), "truncated"),
    "garbled": (touching(fault="garble", at=5), "malformed"),
}
"""A fault, and the category that its retry is told under."""


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_tried_again_and_nothing_is_half_run(name: str, program: Open, shop: Path) -> None:
    fault, category = PASSING[name]
    with Loopback([fault, touching(), say("Done.")]) as server:
        made = program(server)
        ran = made.headless("go", *TOUCH)
    assert (ran.code, ran.result["result"]) == (0, "Done."), ran.err
    (retry,) = [line for line in ran.lines if line.get("subtype") == "api_retry"]
    assert (retry["error"], retry["attempt"]) == (category, 2)
    assert server.bodies[0] == server.bodies[1]
    assert [entry["tool"] for entry in made.of("tool_started")] == ["bash"]
    assert (shop / "ran").exists()


def test_a_long_wait_is_not_waited_for(program: Open) -> None:
    with Loopback([fail(429, "rate_limit_error", "come back tomorrow", retry_after="7200")]) as server:
        ran = program(server).headless("go")
    assert ran.code == 1
    assert "7200 s" in ran.err
    assert ran.result["api_error_status"] == 429
    assert len(server.requests) == 1


WRONG: dict[str, list[Reply]] = {
    "read": [
        call("read"),
        call("read", file_path=7),
        call("read", file_path=""),
        call("read", file_path="no/such.py"),
        call("read", file_path="."),
        call("read", file_path="cart.py", offset=-5),
        call("read", file_path="cart.py", limit="many"),
        call("read", file_path="cart.py", offset=9999),
        call("read", file_path="a\0b"),
        raw_call("read", '{"file_path": "cart.py'),
    ],
    "edit": [
        call("edit", file_path="cart.py"),
        call("edit", file_path="cart.py", old_string="", new_string="x"),
        call("edit", file_path="cart.py", old_string="not there", new_string="x"),
        call("edit", file_path="cart.py", old_string="def", new_string="def"),
        call("edit", file_path="none.py", old_string="a", new_string="b"),
        call("edit", file_path=".", old_string="a", new_string="b"),
        call("edit", file_path="cart.py", edits="everything"),
        call("edit", file_path="cart.py", edits=[]),
        call("edit", file_path="cart.py", edits=[{"old_string": "a"}]),
        raw_call("edit", "[1, 2"),
    ],
    "write": [
        call("write"),
        call("write", file_path="cart.py"),
        call("write", content="x"),
        call("write", file_path="cart.py", content="not read before"),
        call("write", file_path="cart.py", content=7),
        call("write", file_path=".", content="x"),
        call("write", file_path="cart.py/inside", content="x"),
        call("write", file_path="a\0b", content="x"),
        call("write", file_path="x" * 300, content="x"),
        raw_call("write", "nonsense"),
    ],
    "bash": [
        call("bash"),
        call("bash", command=""),
        call("bash", command=7),
        call("bash", command="a\0b"),
        call("bash", command="ls", timeout=-1),
        call("bash", command="ls", timeout="long"),
        call("bash", command="ls", cwd="no/such"),
        call("bash", command="ls no-such-file"),
        call("bash", command="echo 'unclosed"),
        raw_call("bash", '{"command": "ls"'),
    ],
    "todo": [
        call("todo"),
        call("todo", todos="all"),
        call("todo", todos=[7]),
        call("todo", todos=[{}]),
        call("todo", todos=[{"content": "a"}]),
        call("todo", todos=[{"content": "a", "status": "maybe"}]),
        call("todo", todos=[{"content": 7, "status": "pending"}]),
        call("todo", todos={"content": "a"}),
        call("todo", todos=None),
        raw_call("todo", '{"todos": ['),
    ],
}
"""Ten wrong calls for a tool, each wrong in its own way."""


@pytest.mark.parametrize("tool", WRONG)
def test_ten_wrong_calls_and_then_a_good_end(tool: str, program: Open, shop: Path) -> None:
    before = {path: path.read_bytes() for path in shop.glob("*.py")}
    with Loopback([*WRONG[tool], say("I give up, in good order.")]) as server:
        made = program(server)
        ran = made.headless("go", "--permission-mode", "bypass")
    assert (ran.code, ran.result["subtype"]) == (0, "success"), ran.err
    answers = results(server.bodies[-1])
    assert [is_error for _, is_error in answers] == [True] * 10, answers
    assert all(words and "failed inside" not in words for words, _ in answers), answers
    assert len({words for words, _ in answers}) > 5, "each mistake is named"
    assert {path: path.read_bytes() for path in shop.glob("*.py")} == before


def test_an_unknown_tool_is_answered_with_those_that_exist(program: Open) -> None:
    with Loopback([call("teleport", to="mars") + call("Reed", file_path="cart.py"), say("Ok.")]) as server:
        ran = program(server).headless("go")
    assert ran.code == 0
    answers = results(server.bodies[1])
    assert [is_error for _, is_error in answers] == [True, True]
    assert "bash" in answers[0][0]
    assert "read" in answers[1][0]


UNUSABLE = {
    "401": (fail(401, "authentication_error", "invalid x-api-key"), (), "ANTHROPIC_API_KEY"),
    "403": (fail(403, "permission_error", "not for you"), (), "another model"),
    "404": (fail(404, "not_found_error", "model: claude-sonet-5"), ("--model", "claude-sonet-5"), "claude-sonnet-5"),
}
"""A final refusal, the flags of the run, and the remedy that its words must name."""


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_model_that_cannot_be_used_is_exit_5_with_the_remedy(name: str, program: Open) -> None:
    refusal, arguments, remedy = UNUSABLE[name]
    with Loopback([refusal], models=["claude-sonet-5"]) as server:
        ran = program(server).headless("go", *arguments)
    assert ran.code == 5
    assert remedy in ran.err
    assert remedy in str(ran.result["errors"])
    assert len(server.requests) == 1


def test_an_unreachable_host_and_a_missing_key_are_exit_5(program: Open) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    away = program(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=f"http://127.0.0.1:{port}").headless("go")
    assert away.code == 5
    assert f"127.0.0.1:{port}" in away.err
    assert "base URL" in away.err
    keyless = program().headless("go")
    assert keyless.code == 5
    assert "ANTHROPIC_API_KEY" in keyless.err
    assert keyless.result["subtype"] == "error_during_execution"


REFUSED = {
    "mid_system": ('"role": "system"', "messages.1.role: 'system' is not a valid role"),
    "effort": ('"output_config"', "output_config: Extra inputs are not permitted"),
    "thinking_display": ('"display"', "thinking.adaptive.display: Extra inputs are not permitted"),
    "adaptive_thinking": ('"adaptive"', "thinking.type: adaptive thinking is not supported on this model"),
    "diagnostics": ('"diagnostics"', "diagnostics: Extra inputs are not permitted"),
    "cache": ('"cache_control"', "cache_control: Extra inputs are not permitted"),
}
"""An optional feature, what shows it in a request, and how a server says that it does not take it."""


def test_a_server_that_takes_no_optional_feature_is_used_without_them(program: Open, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("Be brief.\n")

    def plain(body: object) -> Reply:
        text = json.dumps(body)
        for shown, words in REFUSED.values():
            if shown in text:
                return fail(400, "invalid_request_error", words)
        return say("Works without.")

    with Loopback(plain) as server:
        made = program(server)
        ran = made.headless("go", "--model", "claude-opus-4-8", "--effort", "high")
        (shop / "AGENTS.md").write_text("Be long.\n")
        again = made.headless("more", "-c")
        before = len(server.requests)
        third = made.headless("and more", "-c")
    assert [each.code for each in (ran, again, third)] == [0, 0, 0], again.err
    assert ran.result["result"] == again.result["result"] == "Works without."
    left_out = [entry["without"][0] for entry in made.of("switched")]
    assert sorted(left_out) == sorted(REFUSED), "each was sent, refused, and left out from then on"
    for name in left_out:
        assert f"without {name}" in ran.out + again.out, f"{name} was left out without a word"
    assert len(server.requests) == before + 1, "what was refused once is not sent again"
