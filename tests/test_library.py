"""codeagent as a library: the documented example, own models, own tools, own approvals."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.events import AssistantSaid, Decided, Event, ToolFinished
from codeagent.core.messages import Request
from codeagent.core.ports import ModelInfo
from codeagent.library import Answer, AskPermission, CodeagentError, ModelError, Options, Pair, Question, Risk, tool
from tests.core.stage import Replies, call, say
from tests.loopback import KEY, Loopback
from tests.loopback import call as calls
from tests.loopback import say as says

DOCS = Path(__file__).parent.parent / "docs"
UNKEPT = Options(no_session_persistence=True)


def example() -> dict[str, Any]:
    """The names that the documented program defines."""
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "library.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/library.md", "exec"), names)
    return names


async def test_the_documented_example_runs(project: Path, home: Path) -> None:
    replies = [calls("price", article="tea") + calls("price", article="cake"), says("770 cents.")]
    with Loopback(replies) as server:
        environ = {
            "HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
        }
        reply = await example()["main"](project, environ=environ)
    assert (reply.text, reply.why) == ("770 cents.", "done")
    told = str(server.bodies[1]["messages"])
    assert "320" in told
    assert "450" in told
    assert any(t["name"] == "price" and "before you speak" in t["description"] for t in server.bodies[0]["tools"])
    assert not (project / ".agent").exists()


async def test_a_model_and_an_approver_of_ones_own(project: Path, home: Path) -> None:
    asked: list[Question] = []
    events: list[Event] = []

    async def approve(question: Question) -> Answer:
        asked.append(question)
        return Answer("no", "not today")

    def launch(target: str, count: int = 1) -> str:
        """Launch rockets."""
        raise AssertionError("it must not run")

    model = Replies(
        say("", call("1", "launch", target="moon")),
        say("", call("2", "launch", target="moon", count="x")),
        say("Well."),
    )
    async with Pair(
        project, model=model, tools=[tool(launch)], approve=approve, see=events.append, environ={}, home=home
    ) as pair:
        reply = await pair.say("go")
    assert reply.text == "Well."
    (question,) = asked
    assert isinstance(question, AskPermission)
    assert question.effect.title == "Run launch(target='moon', count=1)"
    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert [event.outcome for event in finished] == ["refused", "failed"]
    assert "count: a whole number is wanted" in str(finished[1].blocks)
    assert any(isinstance(event, Decided) and event.decision == "deny" for event in events)
    assert list((project / ".agent/sessions").glob("*.jsonl"))


async def test_without_an_approver_nothing_that_is_asked_runs(project: Path, home: Path) -> None:
    model = Replies(say("", call("1", "write", file_path="a.txt", content="x")), say("Then not."))
    async with Pair(project, model=model, options=UNKEPT, environ={}, home=home) as pair:
        reply = await pair.say("go")
    assert reply.why == "done"
    assert not (project / "a.txt").exists()


async def test_a_fault_of_a_tool_is_news_for_the_model(project: Path, home: Path) -> None:
    async def fail() -> str:
        """Fail."""
        raise LookupError("no such thing")

    model = Replies(say("", call("1", "fail")), say("I see."))
    async with Pair(
        project, model=model, tools=[tool(fail, risk=Risk.LOW)], options=UNKEPT, environ={}, home=home
    ) as pair:
        await pair.say("go")
    assert "no such thing" in str(model.asked[1].messages[-1])


async def test_a_failing_model_ends_the_turn_in_words(project: Path, home: Path) -> None:
    model = Replies(ModelError("The wire is cut.", category="connection"))
    async with Pair(project, model=model, options=UNKEPT, environ={}, home=home) as pair:
        reply = await pair.say("go")
        assert (reply.why, reply.text) == ("failed", "")
        assert "The wire is cut." in reply.detail
        assert (await pair.say("again")).why == "done"


async def test_no_key_and_no_project_are_said_at_once(project: Path, home: Path, tmp_path: Path) -> None:
    with pytest.raises(CodeagentError, match="directory"):
        Pair(tmp_path / "nowhere", environ={}, home=home)


async def test_a_tool_takes_named_parameters_only() -> None:
    def many(*words: str) -> str:
        return " ".join(words)

    with pytest.raises(TypeError, match="named parameters"):
        tool(many)


class Echo:
    """A model as a stranger would write it."""

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "echo", 1000, 100)

    async def stream(self, request: Request) -> AsyncIterator[AssistantSaid]:
        yield say(f"{len(request.tools)} tools")


async def test_a_stranger_s_model(project: Path, home: Path) -> None:
    async with Pair(project, model=Echo(), options=UNKEPT, environ={}, home=home) as pair:  # type: ignore[arg-type]
        assert (await pair.say("hello")).text.endswith("tools")
