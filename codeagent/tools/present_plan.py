"""The present_plan tool: a plan is shown for approval, and plan mode ends when it is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, ClassVar

from pydantic import Field

from codeagent.core.effects import Answer, AskPlan, Effect, Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Plain
from codeagent.tools.inputs import Input, prompt

CARRY_OUT = (
    "Carry it out step by step: put its steps into the todo list, one in progress at a time. After each step check its "
    "outcome as the plan says, and mark it completed only when the check passed. When a step fails, find out why; if "
    "the plan was wrong, change the steps that are left in the todo list, and say what changed and why, then go on."
)


class PresentPlanInput(Input):
    """The plan."""

    plan: Annotated[str, Field(min_length=1)]


class PresentPlan:
    """Asks through `ask`; `mode` gives the permission mode, `approved` switches to the one that was chosen."""

    name: ClassVar[str] = "present_plan"
    description: ClassVar[str] = prompt("present_plan")
    timeout: ClassVar[float] = 7 * 24 * 3600.0
    Input: ClassVar[type[PresentPlanInput]] = PresentPlanInput

    def __init__(
        self,
        ask: Callable[[AskPlan], Awaitable[Answer]],
        attended: Callable[[], bool],
        mode: Callable[[], str],
        approved: Callable[[str], None],
    ) -> None:
        self._ask, self._attended, self._mode, self._approved = ask, attended, mode, approved

    async def plan(self, args: PresentPlanInput) -> Effect:
        if self._mode() != "plan":
            raise ToolFault(
                "Plan mode is off, so nothing needs approval as a plan: do the work.", summary="not planning"
            )
        if not self._attended():
            raise ToolFault(
                "Nobody can approve it here: give the plan as your final answer.", summary="nobody is there"
            )
        return Effect(self.name, "", "Present the plan", Risk.LOW, Plain(args.plan), free=True)

    async def run(self, args: PresentPlanInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        answer = await self._ask(AskPlan(args.plan))
        if answer.verdict == "no":
            said = f" They say: {answer.words}" if answer.words else " Ask what is missing."
            yield Result.of(f"Not approved: go on planning.{said}", summary="keep planning", view=Plain(args.plan))
            return
        edits = answer.verdict == "always"
        self._approved("acceptEdits" if edits else "default")
        plan = str(answer.input["plan"]) if answer.input else args.plan
        changed = f"The user changed the plan. This one counts:\n\n{plan}\n\n" if plan != args.plan else ""
        how = "edits inside the project need no question" if edits else "each edit is asked"
        words = f"Approved; {how}. {changed}{CARRY_OUT}" + (f" The user adds: {answer.words}" if answer.words else "")
        yield Result.of(words, summary=f"approved, {how}", view=Plain(plan))
