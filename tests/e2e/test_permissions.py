"""The gate explains itself: on the command line, in the audit trail, and while settings change under it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

from tests.e2e.conftest import Open
from tests.e2e.program import Program, results, said
from tests.loopback import Loopback, Reply, call, say


def settings(shop: Path, text: str | dict[str, Any]) -> None:
    (shop / ".agent").mkdir(exist_ok=True)
    path = shop / ".agent" / "settings.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
    os.replace(fresh, path)


def test_why_tells_every_part_and_what_would_change_it(program: Open, shop: Path) -> None:
    settings(shop, {"permissions": {"deny": ["Bash(git push:*)"], "ask": ["Bash(make:*)"]}})
    made = program()
    told = made.run("permissions", "why", "bash", "ls && rm -rf build")
    assert told.code == 0
    assert "Asked, in mode default." in told.out
    assert "allow  ls" in told.out
    assert "ask    rm -rf build" in told.out
    assert "Bash(rm -rf build)" in told.out
    denied = made.run("permissions", "why", "bash", "git", "push && ls").out
    assert "Refused" in denied
    assert f"{shop}/.agent/settings.json:4" in denied
    assert "protected place" in made.run("permissions", "why", "write", ".git/config", "--mode", "bypass").out
    found = json.loads(made.run("permissions", "why", "read", '{"file_path": "cart.py"}', "--json").out)
    assert (found["decision"], found["path"], found["risk"]) == ("allow", "inside", "LOW")


def test_list_names_what_never_matches_and_what_waits_for_trust(program: Open, shop: Path) -> None:
    settings(shop, {"permissions": {"allow": ["Bash(ls)"], "deny": ["Bash(a | b)", "Nosuch"]}})
    listed = program().run("permissions").out
    assert "never matches: a rule covers one simple command" in listed
    assert "never matches: there is no tool named nosuch" in listed
    assert "not given before you trust it" in listed
    assert "allow Bash(ls)" in listed
    trusted = program().run("permissions", "list", "--trust", "--json").out
    assert {row["rule"] for row in json.loads(trusted)["rules"]} == {"Bash(ls)", "Bash(a | b)", "Nosuch"}


def test_check_decides_line_by_line_and_runs_nothing(program: Open, shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    rows: list[Any] = [
        {"id": 1, "tool": "Bash", "input": {"command": "ls | wc -l"}},
        {"id": 2, "tool": "bash", "input": {"command": "touch made"}},
        {"id": 3, "tool": "bash", "input": {"command": "touch made"}, "allow": ["Bash(touch:*)"]},
        {"id": 4, "tool": "bash", "input": {"command": "touch made"}, "allow": ["Bash"], "deny": ["Bash(touch:*)"]},
        {"id": 5, "tool": "Edit", "input": {"file_path": "cart.py"}, "mode": "acceptEdits"},
        {"id": 6, "tool": "Write", "input": {"file_path": ".git/hooks/x"}, "mode": "bypassPermissions"},
        {"id": 7, "tool": "Read", "input": {"file_path": "/etc/hosts"}},
        {"id": 8, "tool": "bash", "input": {"command": "touch made"}, "mode": "dontAsk"},
        {"id": 9, "tool": "bash", "input": {"command": "rm -rf /"}, "mode": "yolo", "allow": ["Bash"]},
        {"id": 10, "tool": "Read", "input": {"file_path": "x"}, "root": str(other), "cwd": str(other)},
        {"id": 11, "tool": "Read", "input": {"file_path": str(shop / "cart.py")}, "root": str(other)},
        {"id": 12, "tool": "bash", "input": {"command": "ls"}, "mode": "fast"},
        {"id": 13, "tool": "bash", "input": {"command": "ls"}, "allow": "Bash"},
    ]
    lines = "\n".join([*map(json.dumps, rows), "[", "3"])
    ran = program().run("permissions", "check", stdin=lines.encode())
    answers = [(found["id"], found["decision"], found["by"], found.get("path")) for found in ran.lines]
    assert answers[:11] == [
        (1, "allow", "mode", None),
        (2, "ask", "mode", None),
        (3, "allow", "rule", None),
        (4, "deny", "rule", None),
        (5, "allow", "mode", "inside"),
        (6, "ask", "protected", "protected"),
        (7, "ask", "path", "outside"),
        (8, "deny", "mode", None),
        (9, "deny", "builtin", None),
        (10, "allow", "mode", "inside"),
        (11, "ask", "path", "outside"),
    ]
    assert [found["decision"] for found in ran.lines[11:]] == ["ask"] * 4, "what cannot be decided is asked"
    assert [part["text"] for part in ran.lines[0]["parts"]] == ["ls", "wc -l"]
    assert not (shop / "made").exists()


def test_the_audit_trail_names_who_allowed_it_and_the_hashes(program: Open, shop: Path) -> None:
    replies = [
        call("read", file_path="cart.py"),
        call("write", file_path="new.txt", content="x\n"),
        call("bash", command="make all"),
        call("bash", command="touch made"),
        say("Done."),
    ]
    settings(shop, {"permissions": {"deny": ["Bash(make:*)"]}})
    with Loopback(replies) as server:
        made = program(server)
        made.run("-p", "go", "--permission-mode", "acceptEdits", "--allowed-tools", "Bash(touch:*)")
    rows = made.run("audit", "--json").lines
    assert [(row["tool"], row["decision"], row["by"]) for row in rows] == [
        ("read", "allow", "mode"),
        ("write", "allow", "mode"),
        ("bash", "deny", "rule"),
        ("bash", "allow", "rule"),
    ]
    assert rows[1]["before"] == ""
    assert len(rows[1]["after"]) == 64
    assert rows[2]["where"] == f"{shop}/.agent/settings.json:4"
    assert (rows[2]["outcome"], rows[3]["outcome"], rows[3]["where"]) == ("refused", "done", "command line")
    assert all(row["when"] > 1.7e9 for row in rows)
    words = made.run("audit").out
    assert "refused  MEDIUM  Run make all" in words
    assert "by a rule: The rule Bash(make:*)" in words
    assert "Decisions: 4, refused: 1, changes of files: 1." in words


def test_a_deny_added_while_it_runs_blocks_the_next_call(program: Open, shop: Path) -> None:
    def answer(body: Any) -> Reply:
        done = len(results(body))
        if done == 1:
            settings(shop, {"permissions": {"deny": ["Bash(touch:*)"]}})
        return call("bash", command=f"touch made{done}") if done < 2 else say("Blocked.")

    with Loopback(answer) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
    assert ran.result["result"] == "Blocked."
    assert ((shop / "made0").exists(), (shop / "made1").exists()) == (True, False)
    assert "Policy forbids this (rule Bash(touch:*))" in str(server.bodies[2])
    assert server.bodies[0]["tools"] == server.bodies[2]["tools"]


def test_a_file_that_breaks_while_it_runs_is_named_and_its_denies_stay(program: Open, shop: Path) -> None:
    settings(shop, {"permissions": {"deny": ["Bash(rm:*)"], "defaultMode": "acceptEdits"}})

    def answer(body: Any) -> Reply:
        done = len(results(body))
        if done == 1:
            settings(shop, '{"permissions": ')
        steps = [call("write", file_path="a", content="x"), call("write", file_path="b", content="x")]
        steps += [call("bash", command="rm a"), say("Stopped.")]
        return steps[done]

    with Loopback(answer) as server:
        ran = program(server).headless("go", "--trust")
    assert ((shop / "a").exists(), (shop / "b").exists()) == (True, False)
    assert "Policy forbids this (rule Bash(rm:*))" in str(server.bodies[3])
    told = [line["content"] for line in ran.lines if line.get("subtype") == "informational"]
    assert any("settings.json:1 is no valid JSON" in words for words in told)
    assert (shop / ".agent" / "settings.json").read_text() == '{"permissions": '


def answered(made: Program, answer: Callable[[Any], Any], *flags: str) -> list[Any]:
    """Say "go" as a program does, answer the one question with what `answer` makes of it; all later lines."""
    streams = ("--output-format", "stream-json", "--input-format", "stream-json", "--permission-prompt-tool", "stdio")
    with made.start(*streams, *flags, stdin=PIPE) as running:
        to, back = running.process.stdin, running.process.stdout
        assert to is not None
        assert back is not None
        with back:
            to.write(json.dumps({"type": "user", "message": {"role": "user", "content": "go"}}).encode() + b"\n")
            to.flush()
            asked = next(found for line in back if (found := json.loads(line))["type"] == "control_request")
            given = {"subtype": "success", "request_id": asked["request_id"], "response": answer(asked["request"])}
            to.write(json.dumps({"type": "control_response", "response": given}).encode() + b"\n")
            to.close()
            running.process.stdin = None
            lines = [json.loads(line) for line in back]
        running.ended()
    return lines


def test_a_link_swapped_in_after_the_permit_is_caught(program: Open, shop: Path, tmp_path: Path) -> None:
    """While the permission is asked, the directory becomes a link to elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shop / "sub").mkdir()

    def swap(_asked: Any) -> Any:
        (shop / "sub").rmdir()
        (shop / "sub").symlink_to(elsewhere)
        return {"behavior": "allow"}

    with Loopback([call("write", file_path="sub/f.txt", content="x"), say("It was caught.")]) as server:
        lines = answered(program(server), swap)
    assert list(elsewhere.iterdir()) == []
    assert lines[-1]["result"] == "It was caught."
    assert "leads to another place than when this was permitted" in str(server.bodies[1])


def test_a_link_swapped_in_before_a_command_is_caught(program: Open, shop: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours\n")
    (shop / "notes.txt").write_text("mine\n")

    def swap(_asked: Any) -> Any:
        (shop / "notes.txt").unlink()
        (shop / "notes.txt").symlink_to(secret)
        return {"behavior": "allow"}

    with Loopback([call("bash", command="cat notes.txt && touch made"), say("It was caught.")]) as server:
        lines = answered(program(server), swap)
    assert lines[-1]["result"] == "It was caught."
    assert "no longer what was permitted" in str(server.bodies[1])
    assert "not yours" not in str(server.bodies[1])
    assert not (shop / "made").exists()


def test_plan_mode_without_a_person_ends_with_the_plan(program: Open, shop: Path) -> None:
    replies = [call("read", file_path="cart.py"), call("bash", command="touch made"), say("1. Change cart.py")]
    with Loopback(replies) as server:
        ran = program(server).headless("plan it", "--permission-mode", "plan")
    assert (ran.code, ran.result["result"]) == (0, "1. Change cart.py")
    assert "end with it as your answer" in said(server.bodies[0])
    assert not (shop / "made").exists()


def test_an_approved_plan_is_carried_out(program: Open, shop: Path) -> None:
    replies = [
        call("present_plan", plan="1. Write n.txt"),
        call("write", file_path="n.txt", content="x"),
        say("Done."),
    ]

    def accept_edits(asked: Any) -> Any:
        assert asked["input"] == {"plan": "1. Write n.txt"}
        return {"behavior": "allow", "updatedPermissions": asked["permission_suggestions"]}

    with Loopback(replies) as server:
        lines = answered(program(server), accept_edits, "--permission-mode", "plan")
    assert lines[-1]["subtype"] == "success"
    assert (shop / "n.txt").read_text() == "x"
    assert "Carry it out step by step" in str(server.bodies[1])
    assert "Plan mode is off" in said(server.bodies[1])


def test_why_and_audit_name_no_rule_that_was_not_needed(program: Open, shop: Path) -> None:
    settings(shop, {"permissions": {"allow": ["Bash(python3 -m unittest -q)"]}})
    calls = [call("bash", command="sleep 0"), call("bash", command="ls; echo hi"), say("Done.")]
    with Loopback(calls) as server:
        made = program(server)
        assert made.run("-p", "go", "--trust").code == 0
        audited = made.run("audit").out
        told = [made.run("permissions", "why", "bash", line, "--trust").out for line in ("sleep 60", "cat cart.py")]
        both = made.run("permissions", "why", "bash", "ls && python3 -m unittest -q", "--trust").out
        asked = made.run("permissions", "why", "bash", "touch y").out
    assert audited.count("by the mode: It only reads, inside the project.") == 2
    for words in (audited, *told):
        assert "unittest" not in words
    assert f"The rule Bash(python3 -m unittest -q) ({shop}/.agent/settings.json:" in both
    assert "allow  ls                      it only reads" in both
    assert "allow  python3 -m unittest -q  rule Bash(python3 -m unittest -q)" in both
    assert "its risk is high: it may do more than read, build or test" in asked
    assert "Another mode: --permission-mode bypass." in asked
