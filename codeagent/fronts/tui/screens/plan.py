"""Shall this plan be carried out? The permission dialog with the plan as its text, which can be edited first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from textual.strip import Strip

from codeagent.core.clean import clean
from codeagent.core.effects import Answer, AskPermission, AskPlan, Effect, Risk, Verdict
from codeagent.core.views import Plain
from codeagent.fronts.tui.pieces import Block
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.permission import PermissionDialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item


class PlanDialog(PermissionDialog):
    """Dismissed with an Answer: `always` accepts edits, `yes` asks on each, `no` keeps planning."""

    def __init__(self, question: AskPlan, stage: Stage) -> None:
        effect = Effect("present_plan", "", "Go ahead with this plan", Risk.LOW, Plain(question.plan), free=True)
        why = "The plan is the model's. Nothing of it has been done; what it may do is still asked as the mode says."
        shown = AskPermission(question.use_id, effect, Verdict("ask", "mode", why), {"content": question.plan})
        super().__init__(shown, stage)

    def title_words(self) -> tuple[str, str]:
        return ("The plan", "") if self.has_class("-edit") else ("Go ahead with this plan?", "plan")

    def items(self) -> tuple[Item, ...]:
        mine = "your plan, and " if self._input else ""
        return (
            Item(f"Go ahead, {mine}accept edits", key="1"),
            Item(f"Go ahead, {mine}ask on each edit", key="2"),
            Item("Keep planning, and say what to change", key="3"),
        )

    def _highlight(self) -> None:
        self.menu.choose(1)  # the careful yes

    def choose(self, index: int) -> None:
        if index == 2:
            super().choose(index)
            return
        plan = {"plan": self._input["content"]} if self._input else None
        self.dismiss(Answer("yes" if index else "always", self._words(), plan))

    def _rows(self, width: int) -> list[Strip]:
        painter = Painter(self.stage.palette, self.stage.glyphs, width)
        painter.measure = width
        assert isinstance(self.effect.view, Plain)
        rows = painter.draw(Block("words", clean(self.effect.view.text), gap=False))
        return [*self._above(painter, width), *rows]

    async def foreseen(self, given: Mapping[str, Any]) -> Effect:
        return replace(self.effect, view=Plain(given["content"]))
