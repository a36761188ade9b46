"""What every request carries stays small: the system prompt and the tools' schemas, in bytes as they are sent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codeagent.library import Options, Pair
from tests.loopback import KEY, Loopback, say

WHOLE = 12_000
EVERYDAY = 10_000
EVERYDAY_TOOLS = {"read", "write", "edit", "grep", "glob", "bash", "todo", "ask_user", "memory"}


@pytest.fixture
async def body(project: Path, home: Path) -> Any:
    """The first request of a session in an empty project."""
    with Loopback([say("hello")]) as server:
        environ = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        async with Pair(project, options=Options(no_session_persistence=True), environ=environ, home=home) as pair:
            await pair.say("hello")
    return server.bodies[0]


def sent(system: Any, tools: Any) -> int:
    return len(json.dumps([system, tools], ensure_ascii=False, separators=(",", ":")).encode())


def test_the_prefix_is_small(body: Any) -> None:
    everyday = [tool for tool in body["tools"] if tool["name"] in EVERYDAY_TOOLS]
    assert len(everyday) == len(EVERYDAY_TOOLS)
    assert sent(body["system"], body["tools"]) < WHOLE
    assert sent(body["system"], everyday) < EVERYDAY


def test_each_tool_says_when_it_is_of_use_and_what_comes_back(body: Any) -> None:
    for tool in body["tools"]:
        assert 100 < len(tool["description"]) < 900, tool["name"]
        assert '"title"' not in json.dumps(tool["input_schema"])


def test_the_prompt_prefers_the_tools_to_their_shell_twins(body: Any) -> None:
    told = json.dumps([body["system"], [tool["description"] for tool in body["tools"] if tool["name"] == "bash"]])
    assert all(f"`{name}`" in told for name in ("read", "grep", "glob", "edit", "write"))
