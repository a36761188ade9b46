"""Sees to it that a turn ends with an answer of the wanted shape: tells the model once, and asks again if need be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Noted

if TYPE_CHECKING:
    from codeagent.answer_schema import AnswerSchema
    from codeagent.core.agent import Outside

AGAIN = 3
"""How often an answer that does not fit is asked for again."""

ASKED = (
    "A program reads your final answer. End the turn with one JSON value alone, no words and no fence around it, that "
    "matches this JSON schema:\n{schema}"
)
ASKED_AGAIN = (
    "Your final answer does not match the JSON schema: {fault}. Say it again, as one JSON value alone, no words and no "
    "fence around it. The schema:\n{schema}"
)


def shape(outside: Outside, schema: str) -> None:
    """Have turns end with an answer that matches this JSON schema. Raises UsageFault."""
    from codeagent.answer_schema import AnswerSchema

    try:
        answering, news = Answering(AnswerSchema(schema)), outside.news
    except ValueError as fault:  # the command line checks it, a program that brings its own options may not
        raise UsageFault(f"The JSON schema cannot be used: {fault}.") from None
    outside.news = lambda: (*news(), *answering.news())
    outside.owed = answering.owed


class Answering:
    """Counts within one turn, and begins anew with the next."""

    def __init__(self, schema: AnswerSchema) -> None:
        self._schema = schema
        self._told = False
        self._again = 0

    def news(self) -> Iterable[Noted]:
        """What the model is told before its first step."""
        if not self._told:
            self._told = True
            yield Noted(ASKED.format(schema=self._schema.text), to="model", topic="answer")

    def owed(self, said: AssistantSaid) -> Iterable[Noted]:
        """What to say to an answer that does not fit; nothing when it does, or was asked for often enough."""
        try:
            self._schema.read(said.text)
        except ValueError as fault:
            if self._again < AGAIN:
                self._again += 1
                yield Noted(ASKED_AGAIN.format(fault=fault, schema=self._schema.text), to="model", topic="answer")
                words = f"The answer does not match the JSON schema ({fault}). Asked again: {self._again} of {AGAIN}."
                yield Noted(words, to="person", topic="answer", level="warning")
                return
        self._again = 0
