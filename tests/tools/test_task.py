"""The task tool's own promises: whom it calls, what it says of a wrong name, how long its list of kinds gets."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ToolFault
from codeagent.core.starting import Starts
from codeagent.core.subagents import BUILT_IN, DEEPEST, Kind
from codeagent.tools.task import Hired, Order, Task, TaskInput


class Crew:
    """Knows kinds, and hires nobody."""

    def __init__(self, *kinds: Kind, level: int = 0) -> None:
        self.kinds = {kind.name: kind for kind in (*BUILT_IN, *kinds)}
        self.starts, self.level = Starts(), level

    def hire(self, order: Order) -> Hired:
        raise ToolFault("nobody is hired here")


def given(**more: str) -> TaskInput:
    return TaskInput.model_validate({"description": "Look\nthere", "prompt": "look", **more})


@pytest.mark.parametrize(("named", "name"), [("", "general"), ("Explore", "explore"), ("general-purpose", "general")])
async def test_whom_it_calls(named: str, name: str) -> None:
    effect = await Task(Crew()).plan(given(**({"agent": named} if named else {})))
    assert effect.name == name
    assert "\n" not in effect.label
    assert effect.free


async def test_a_wrong_name_is_told_with_the_right_ones() -> None:
    with pytest.raises(ToolFault, match=r"no agent 'scout'\. The agents are: explore, general, mine"):
        await Task(Crew(Kind("mine", "mine", "be mine"))).plan(given(agent="scout"))


async def test_no_deeper_than_two_levels() -> None:
    with pytest.raises(ToolFault, match="Do this part yourself"):
        await Task(Crew(level=DEEPEST)).plan(given())


def test_many_kinds_do_not_swell_every_request() -> None:
    many = [Kind(f"kind{n}", "does a thing " * 100, "do it") for n in range(100)]
    described = Task(Crew(*many)).description
    assert "`kind99`" in described
    assert len(described) < 5_000
