"""The todo tool: the model's list of steps, shown live to the person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from codeagent.core.effects import Effect, Permit, Risk
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Todo as TodoView
from codeagent.core.views import TodoItem


# No docstring: pydantic would send it to the model with every request.
class _Item(BaseModel):
    content: Annotated[str, Field(min_length=1, max_length=500)]
    status: Literal["pending", "in_progress", "completed"]


class TodoInput(BaseModel):
    """The whole list."""

    todos: Annotated[list[_Item], Field(max_length=50)]


class Todo:
    """Replaces the list; touches nothing else."""

    name: ClassVar[str] = "todo"
    description: ClassVar[str] = (Path(__file__).parent / "prompts" / "todo.md").read_text(encoding="utf-8").strip()
    timeout: ClassVar[float] = 5
    Input: ClassVar[type[Any]] = TodoInput

    async def plan(self, args: TodoInput) -> Effect:
        view = _view(args)
        return Effect(self.name, _progress(view), "Update the todo list", Risk.LOW, view, free=True)

    async def run(self, args: TodoInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        view = _view(args)
        words = _progress(view)
        yield Result.of(f"The list stands: {words}." if view.items else "The list is empty.", summary=words, view=view)


def _view(args: TodoInput) -> TodoView:
    return TodoView(tuple(TodoItem(" ".join(item.content.split()), item.status) for item in args.todos))


def _progress(view: TodoView) -> str:
    done = sum(item.status == "completed" for item in view.items)
    return f"{done} of {len(view.items)} done"
