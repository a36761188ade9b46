"""The ask_user tool: the model asks the person, who answers by choice or in words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from codeagent.core import effects
from codeagent.core.errors import ToolFault
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Plain


# No docstrings in these two: pydantic would send them to the model with every request.
class _Option(BaseModel):
    label: str
    description: str = ""


class _Question(BaseModel):
    question: str
    options: Annotated[list[_Option], Field(max_length=8)] = []
    multi_select: bool = False


class AskUserInput(BaseModel):
    """What to ask."""

    questions: Annotated[list[_Question], Field(min_length=1, max_length=4)]


class AskUser:
    """Puts questions to the person through `ask`, one after the other. `attended` tells whether anybody is there."""

    name: ClassVar[str] = "ask_user"
    description: ClassVar[str] = (Path(__file__).parent / "prompts" / "ask_user.md").read_text(encoding="utf-8").strip()
    timeout: ClassVar[float] = 7 * 24 * 3600.0
    Input: ClassVar[type[Any]] = AskUserInput

    def __init__(
        self,
        ask: Callable[[effects.AskUser], Awaitable[effects.Answer]],
        attended: Callable[[], bool] = lambda: True,
    ) -> None:
        self._ask = ask
        self._attended = attended

    async def plan(self, args: AskUserInput) -> effects.Effect:
        if not self._attended():
            raise ToolFault("Nobody can answer. Decide yourself, and say what you assumed.", summary="nobody is there")
        first = args.questions[0].question
        view = Plain("\n".join(question.question for question in args.questions))
        return effects.Effect(self.name, first, "Ask you", effects.Risk.LOW, view, free=True)

    async def run(self, args: AskUserInput, permit: effects.Permit) -> AsyncIterator[Progress | Result]:
        told = []
        for question in args.questions:
            choices = tuple(effects.Choice(option.label, option.description) for option in question.options)
            asked = effects.AskUser("", question.question, "", choices, question.multi_select)
            told.append(f"{question.question}\n{_words(await self._ask(asked))}")
        text = "\n\n".join(told)
        yield Result.of(text, summary="answered", view=Plain(text))


def _words(answer: effects.Answer) -> str:
    if answer.verdict == "no":
        said = f" They said: {answer.words}" if answer.words else " Go on with what you know, or stop and say why."
        return f"(The person chose not to answer.{said})"
    return f"Answer: {answer.words or '(nothing)'}"
