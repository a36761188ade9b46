"""Calls that a killed run left open."""

from __future__ import annotations

from codeagent.core.events import Entry, ToolFinished, ToolStarted, TurnEnded, UserSaid
from codeagent.core.messages import Text
from codeagent.core.unfinished import unfinished
from codeagent.core.views import Plain


def begun(name: str) -> ToolStarted:
    return ToolStarted(name, "bash", f"run {name}", f"Run {name}", Plain("x"))


def done(name: str) -> ToolFinished:
    return ToolFinished(name, "bash", (Text("x"),))


def ids(*entries: Entry) -> list[str]:
    return [call.use_id for call in unfinished(entries)]


def test_calls_without_a_result_are_named_in_order() -> None:
    assert ids(begun("a"), begun("b"), begun("c"), done("b")) == ["a", "c"]


def test_a_turn_that_ended_or_was_followed_by_another_leaves_nothing_open() -> None:
    assert ids(begun("a"), TurnEnded("interrupted")) == []
    assert ids(begun("a"), UserSaid((Text("go on"),)), begun("b")) == ["b"]
    assert ids(begun("a"), UserSaid((Text("by the way"),), queued="q1")) == ["a"]
