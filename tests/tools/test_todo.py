"""The todo list."""

from __future__ import annotations

import pytest
from bash_session import prompt_bytes
from pydantic import ValidationError

from codeagent.core.effects import Permit
from codeagent.core.messages import Text
from codeagent.core.views import Todo as TodoView
from codeagent.core.views import TodoItem
from codeagent.tools.todo import Todo, TodoInput


async def test_the_whole_list_is_replaced_and_shown() -> None:
    args = TodoInput.model_validate(
        {"todos": [{"content": "look\nat it", "status": "completed"}, {"content": "mend it", "status": "in_progress"}]}
    )
    tool = Todo()
    effect = await tool.plan(args)
    (result,) = [said async for said in tool.run(args, Permit(effect))]
    assert effect.free
    assert (
        effect.view
        == result.view
        == TodoView((TodoItem("look at it", "completed"), TodoItem("mend it", "in_progress")))
    )
    assert result.blocks == (Text("The list stands: 1 of 2 done."),)
    assert result.summary == effect.label == "1 of 2 done"


async def test_an_empty_list_clears_it() -> None:
    tool, args = Todo(), TodoInput(todos=[])
    (result,) = [said async for said in tool.run(args, Permit(await tool.plan(args)))]
    assert result.blocks == (Text("The list is empty."),)


@pytest.mark.parametrize("row", [{"content": "", "status": "pending"}, {"content": "x", "status": "later"}, "x"])
def test_a_bad_item_is_named(row: object) -> None:
    with pytest.raises(ValidationError, match=r"todos\.0"):
        TodoInput.model_validate({"todos": [row]})


def test_its_share_of_the_prompt_is_small() -> None:
    assert prompt_bytes(Todo) < 700
