"""Leads through the tour where nobody sits at a terminal: tells what the model says, and says yes aloud."""

from __future__ import annotations

from codeagent.core.effects import Answer, AskPermission, AskPlan, AskTrust, AskUser, AskValve, Question
from codeagent.core.events import AssistantSaid, Event, Noted
from codeagent.core.ports import Front


class Guide:
    """Implements ports.Front around another front, which sees everything and is asked nothing.

    The words between the steps and each answer are shown as notes. Only for the sample project:
    whatever is asked is allowed.
    """

    def __init__(self, front: Front) -> None:
        self._front = front

    @property
    def attended(self) -> bool:
        """True: somebody answers."""
        return True

    def see(self, event: Event) -> None:
        """Pass it on, with the words that lead to a call before it."""
        if isinstance(event, AssistantSaid) and event.uses:
            self._note(event.text)
        self._front.see(event)

    async def ask(self, question: Question) -> Answer:
        """Yes, and say so."""
        match question:
            case AskPermission(effect=effect):
                what = effect.title
            case AskUser(question=words):
                what = words
            case AskPlan():
                what = "Go ahead with this plan"
            case AskTrust(directory=directory):
                what = f"Trust {directory}"
            case AskValve(words=words):
                what = words
        self._note(f"{what}? In a terminal this is your decision; here the tour says yes.")
        return Answer("yes", who="the tour")

    def _note(self, words: str) -> None:
        """Show a note for each line; it is not part of the session."""
        for line in words.splitlines():
            if line.strip():
                self._front.see(Noted(line, to="person", topic="tour"))
