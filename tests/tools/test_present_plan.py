"""A plan is approved, changed or sent back; only in plan mode, and only where somebody can say so."""

from __future__ import annotations

import pytest

from codeagent.core.effects import Answer, AskPlan, Permit
from codeagent.core.errors import ToolFault
from codeagent.core.messages import Text
from codeagent.tools.present_plan import CARRY_OUT, PresentPlan, PresentPlanInput

PLAN = PresentPlanInput(plan="1. Read a.py\n2. Change it, and run the tests")


class Planning:
    """Plan mode, with one answer."""

    def __init__(self, answer: Answer, mode: str = "plan", attended: bool = True) -> None:
        self.mode, self.answer = mode, answer
        self.asked: list[AskPlan] = []
        self.tool = PresentPlan(self.ask, lambda: attended, lambda: self.mode, self.approved)

    async def ask(self, question: AskPlan) -> Answer:
        self.asked.append(question)
        return self.answer

    def approved(self, mode: str) -> None:
        self.mode = mode

    async def told(self) -> str:
        effect = await self.tool.plan(PLAN)
        assert effect.free
        (result,) = [part async for part in self.tool.run(PLAN, Permit(effect))]
        block = result.blocks[0]
        assert isinstance(block, Text)
        return block.text


@pytest.mark.parametrize(("verdict", "mode"), [("always", "acceptEdits"), ("yes", "default")])
async def test_approval_leaves_plan_mode_as_chosen(verdict: str, mode: str) -> None:
    planning = Planning(Answer(verdict, "mind the docs"))  # type: ignore[arg-type]  # the two verdicts above
    words = await planning.told()
    assert planning.mode == mode
    assert planning.asked[0].plan == PLAN.plan
    assert words.startswith("Approved")
    assert CARRY_OUT in words
    assert "mind the docs" in words


async def test_a_changed_plan_is_the_one_that_counts() -> None:
    words = await Planning(Answer("yes", input={"plan": "1. Only read"})).told()
    assert "The user changed the plan. This one counts:\n\n1. Only read" in words


async def test_no_keeps_planning_with_the_words() -> None:
    planning = Planning(Answer("no", "the second step is too large"))
    words = await planning.told()
    assert planning.mode == "plan"
    assert "go on planning" in words
    assert "the second step is too large" in words


async def test_outside_plan_mode_there_is_nothing_to_approve() -> None:
    with pytest.raises(ToolFault, match="Plan mode is off"):
        await Planning(Answer("yes"), mode="default").tool.plan(PLAN)


async def test_where_nobody_is_the_plan_is_the_answer() -> None:
    with pytest.raises(ToolFault, match="as your final answer"):
        await Planning(Answer("yes"), attended=False).tool.plan(PLAN)
