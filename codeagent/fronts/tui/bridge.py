"""The front as the agent sees it: `see` hands events to the screen, `ask` shows a dialog and waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from codeagent.core.effects import Answer, AskPermission, AskPlan, AskSummary, AskTrust, AskUser, Question
from codeagent.core.events import Entry, Event, Recalled
from codeagent.fronts.tui.stage import Stage

if TYPE_CHECKING:
    from textual.app import App

    from codeagent.fronts.tui.screens.dialog import Dialog


class Bridge:
    """A `ports.Front` over an App. Nothing is shown before `live` is set: the journal is drawn as a whole then."""

    def __init__(
        self,
        app: App[Any],
        show: Callable[[Event], None],
        stage: Callable[[tuple[int, int]], Stage],
        notify: Callable[[str], None] = lambda _: None,
        recall: Callable[[Sequence[Entry]], None] = lambda _: None,
    ) -> None:
        self._recall = recall
        self._notify = notify
        self.live = False
        self._app = app
        self._show = show
        self._stage = stage
        self._turn = asyncio.Lock()
        self._asked = 0
        self._answered = 0

    @property
    def attended(self) -> bool:
        """There is a person."""
        return True

    def see(self, event: Event) -> None:
        """Show an event. What is recalled comes from the thread that opens a session."""
        if isinstance(event, Recalled):
            self._recall(event.entries)
        elif self.live:
            self._show(event)

    async def ask(self, question: Question) -> Answer:
        """Ask, one question at a time. When the asking task is cancelled its dialog goes away."""
        self._asked += 1
        try:
            async with self._turn:
                return await self._put(question)
        finally:
            self._answered += 1
            if self._answered == self._asked:
                self._asked = self._answered = 0

    async def _put(self, question: Question) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def done(given: Answer | None) -> None:
            if not answer.done():
                answer.set_result(given or Answer("no"))

        dialog = _dialog(question, self._stage((self._answered + 1, self._asked)))
        await self._app.push_screen(dialog, done)
        self._notify("A question waits for you.")
        try:
            return await answer
        finally:
            while dialog in self._app.screen_stack:
                self._app.pop_screen()


def _dialog(question: Question, stage: Stage) -> Dialog[Answer]:
    if isinstance(question, AskPermission):
        from codeagent.fronts.tui.screens.permission import PermissionDialog

        return PermissionDialog(question, stage)
    if isinstance(question, AskSummary):
        from codeagent.fronts.tui.screens.summary import SummaryDialog

        return SummaryDialog(question, stage)
    if isinstance(question, AskTrust):
        from codeagent.fronts.tui.screens.trust import TrustDialog

        return TrustDialog(question, stage)
    if isinstance(question, AskPlan):
        from codeagent.fronts.tui.screens.plan import PlanDialog

        return PlanDialog(question, stage)
    from codeagent.fronts.tui.screens.question import UserDialog, ValveDialog

    return UserDialog(question, stage) if isinstance(question, AskUser) else ValveDialog(question, stage)
