"""Says yes where nobody can be asked, aloud: for the tour without a terminal."""

from __future__ import annotations

from collections.abc import Callable

from codeagent.core.effects import Answer, AskPermission, AskUser, Question
from codeagent.core.events import Event
from codeagent.core.ports import Front


class YesAloud:
    """Implements ports.Front around another front: shows what that shows, and answers every question with yes.

    `tell` is given a line about each answer. Only for the sample project: it allows whatever is asked.
    """

    def __init__(self, front: Front, tell: Callable[[str], None]) -> None:
        self._front = front
        self._tell = tell

    @property
    def attended(self) -> bool:
        """True: somebody answers."""
        return True

    def see(self, event: Event) -> None:
        """Pass it on."""
        self._front.see(event)

    async def ask(self, question: Question) -> Answer:
        """Yes, and say so."""
        match question:
            case AskPermission(effect=effect):
                what = effect.title
            case AskUser(question=words):
                what = words
            case _:
                what = question.words
        self._tell(f"{what}? In a terminal this is your decision; here the tour says yes.")
        return Answer("yes")
