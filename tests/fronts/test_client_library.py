"""The public Python client library of the stream-json schema drives codeagent as its command-line program."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import KEY, Loopback, call, say

sdk = pytest.importorskip("claude_agent_sdk")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """`codeagent` as a program of its own."""
    path = tmp_path / "codeagent"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeagent "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def options(program: Path, project: Path, program_env: dict[str, str]) -> Any:
    def made(server: Loopback, **more: Any) -> Any:
        env = {**program_env, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
        return sdk.ClaudeAgentOptions(cli_path=str(program), cwd=str(project), env=env, **more)

    return made


def kinds(messages: list[Any]) -> list[str]:
    return [type(message).__name__ for message in messages]


async def test_its_own_permission_callback_decides(options: Any, project: Path) -> None:
    asked: list[tuple[str, dict[str, Any], Any]] = []

    async def decide(tool: str, given: dict[str, Any], context: Any) -> Any:
        asked.append((tool, given, context))
        if given["command"] == "touch made":
            return sdk.PermissionResultAllow()
        return sdk.PermissionResultDeny(message="Leave that file alone.")

    script = [call("bash", command="touch made"), call("bash", command="rm kept"), say("Made one, kept the other.")]
    (project / "kept").write_text("")
    with Loopback(script) as server:
        async with sdk.ClaudeSDKClient(options(server, can_use_tool=decide)) as client:
            await client.query("make a file and remove the other")
            messages = [message async for message in client.receive_response()]
    assert [(tool, given["command"]) for tool, given, _ in asked] == [("bash", "touch made"), ("bash", "rm kept")]
    assert asked[0][2].suggestions[0].rules[0].rule_content == "touch made"
    assert ((project / "made").exists(), (project / "kept").exists()) == (True, True)
    assert "Leave that file alone." in str(server.bodies[2]["messages"])
    assert messages[-1].subtype == "success"
    assert messages[-1].result == "Made one, kept the other."
    assert messages[-1].permission_denials[0]["tool_name"] == "bash"


async def test_a_changed_input_is_what_runs_and_a_suggestion_is_remembered(options: Any, project: Path) -> None:
    asked = []

    async def decide(_tool: str, given: dict[str, Any], context: Any) -> Any:
        asked.append(given["command"])
        if len(asked) == 1:
            return sdk.PermissionResultAllow(updated_input={"command": "touch other"})
        return sdk.PermissionResultAllow(updated_permissions=context.suggestions)

    script = [call("bash", command=line) for line in ("touch one", "touch two", "touch two")]
    with Loopback([*script, say("Done.")]) as server:
        async with sdk.ClaudeSDKClient(options(server, can_use_tool=decide)) as client:
            await client.query("go")
            messages = [message async for message in client.receive_response()]
    assert asked == ["touch one", "touch two"]
    assert not (project / "one").exists()
    assert (project / "other").exists()
    assert "Bash(touch two)" in (project / ".agent" / "settings.local.json").read_text()
    assert messages[-1].subtype == "success"


async def test_many_messages_one_result_each(options: Any) -> None:
    with Loopback([say("One."), say("Two.")]) as server:
        async with sdk.ClaudeSDKClient(options(server)) as client:
            results = []
            for text in ("first", "second"):
                await client.query(text)
                results.append([message async for message in client.receive_response()][-1].result)
            info = await client.get_server_info()
    assert results == ["One.", "Two."]
    assert any(command["name"] == "compact" for command in info["commands"])
    assert "first" in str(server.bodies[1]["messages"])


async def test_one_shot_query(options: Any) -> None:
    with Loopback([say("Hello.")]) as server:
        messages = [message async for message in sdk.query(prompt="hi", options=options(server))]
    assert kinds(messages)[-2:] == ["AssistantMessage", "ResultMessage"]
    assert messages[-1].result == "Hello."


async def test_a_stream_of_messages(options: Any) -> None:
    async def spoken() -> AsyncIterator[dict[str, Any]]:
        for text in ("a", "b"):
            yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}

    with Loopback([say("A."), say("B.")]) as server:
        messages = [message async for message in sdk.query(prompt=spoken(), options=options(server))]
    assert [message.result for message in messages if hasattr(message, "total_cost_usd")] == ["A.", "B."]


async def test_interrupt_and_mode(options: Any, project: Path) -> None:
    with Loopback(
        [call("bash", command="sleep 50"), call("write", file_path="n.txt", content="x"), say("ok")]
    ) as server:
        async with sdk.ClaudeSDKClient(options(server, allowed_tools=["Bash(sleep:*)"])) as client:
            await client.query("wait long")
            while not any(kind == "AssistantMessage" for kind in kinds([await anext(client.receive_messages())])):
                pass
            await client.interrupt()
            stopped = [message async for message in client.receive_response()][-1]
            await client.set_permission_mode("acceptEdits")
            await client.query("now write")
            done = [message async for message in client.receive_response()][-1]
    assert stopped.is_error
    assert stopped.terminal_reason.startswith("aborted")
    assert done.subtype == "success"
    assert (project / "n.txt").read_text() == "x"


async def test_without_a_callback_nobody_is_asked(options: Any) -> None:
    replies = [call("bash", command="touch x"), say("It was refused.")]
    with Loopback(replies) as server, pytest.raises(sdk.ResultError) as caught:
        _ = [message async for message in sdk.query(prompt="hi", options=options(server))]
    assert caught.value.exit_code == 4
    assert caught.value.data["subtype"] == "error_permission_required"


async def test_a_server_that_refuses_is_an_error_result(options: Any) -> None:
    with Loopback(key="another") as server, pytest.raises(sdk.ResultError) as caught:
        _ = [message async for message in sdk.query(prompt="hi", options=options(server))]
    assert caught.value.exit_code == 5
