"""Questions of the model to the person."""

from __future__ import annotations

import asyncio

import pytest
from bash_session import prompt_bytes
from pydantic import ValidationError

from codeagent.core import effects
from codeagent.core.errors import ToolFault
from codeagent.core.messages import Text
from codeagent.tools.ask_user import AskUser, AskUserInput

TWO = AskUserInput.model_validate(
    {
        "questions": [
            {"question": "Which port?", "options": [{"label": "80", "description": "usual"}, {"label": "8080"}]},
            {"question": "Which name?", "multi_select": True},
        ]
    }
)


async def test_each_question_is_asked_and_each_answer_told() -> None:
    asked: list[effects.AskUser] = []
    answers = iter([effects.Answer("yes", "8080"), effects.Answer("no", "later")])

    async def ask(question: effects.AskUser) -> effects.Answer:
        asked.append(question)
        return next(answers)

    tool = AskUser(ask)
    effect = await tool.plan(TWO)
    (result,) = [said async for said in tool.run(TWO, effects.Permit(effect))]
    assert effect.free
    assert [question.question for question in asked] == ["Which port?", "Which name?"]
    assert asked[0].choices == (effects.Choice("80", "usual"), effects.Choice("8080"))
    assert asked[1].many
    assert result.blocks == (
        Text("Which port?\nAnswer: 8080\n\nWhich name?\n(The person chose not to answer. They said: later)"),
    )


async def test_when_nobody_is_there_the_model_decides() -> None:
    tool = AskUser(lambda question: asyncio.get_running_loop().create_future(), attended=lambda: False)
    with pytest.raises(ToolFault, match="say what you assumed"):
        await tool.plan(TWO)


@pytest.mark.parametrize("count", [0, 5])
def test_one_to_four_questions(count: int) -> None:
    with pytest.raises(ValidationError, match="questions"):
        AskUserInput.model_validate({"questions": [{"question": "?"}] * count})


def test_its_share_of_the_prompt_is_small() -> None:
    assert prompt_bytes(AskUser) < 800
