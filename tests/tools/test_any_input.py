"""Every bad input through the whole program: the wire, the loop, the gate and the tools of a session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codeagent.library import Options, Pair
from tests.loopback import KEY, Loopback, Reply, call, raw_call, say
from tests.tools.desk import cases

BEFORE = "a\nsame\ntwice twice\n"
BYPASS = Options(permission_mode="bypass", no_session_persistence=True)


def asked(row: dict[str, Any]) -> Reply:
    if "raw" in row:
        return raw_call(row["tool"], row["raw"])
    gen = row.get("gen")
    given = gen["base"] | {gen["field"]: gen["unit"] * gen["count"]} if gen else row["input"]
    return raw_call(row["tool"], json.dumps(given))  # ASCII: half a character travels as an escape


@pytest.mark.parametrize("row", cases("security/tool_input"), ids=lambda row: f"{row['tool']}-{row['id']}")
async def test_input(row: dict[str, Any], project: Path, home: Path) -> None:
    a = project / "a.txt"
    a.write_text(BEFORE)
    (project / "evil_aaaa.txt").write_text("a" * 40 + "!\n")
    (project / "b.txt").write_text("b\n")
    (project / "src").mkdir()
    with Loopback([call("read", file_path="a.txt"), asked(row), say("done")]) as server:
        environ = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        async with Pair(project, options=BYPASS, environ=environ, home=home) as pair:
            reply = await pair.say("go")
    assert (reply.why, reply.text) == ("done", "done"), reply.detail
    (result,) = [b for b in server.bodies[2]["messages"][-1]["content"] if b["type"] == "tool_result"]
    text = " ".join(part["text"] for part in result["content"])
    failed, expect = result.get("is_error", False), row["expect"]
    assert "failed inside" not in text
    if expect["is_error"] != "either":
        assert failed == expect["is_error"], text
    if failed:
        assert any(name in text for name in expect["names"]), text
        assert a.read_text() == BEFORE
    if expect["is_error"] is True:
        assert not (project / "n.txt").exists()
    assert {each.name for each in project.iterdir()} <= {"a.txt", "b.txt", "evil_aaaa.txt", "src", "n.txt"}
