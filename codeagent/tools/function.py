"""A Python function as a tool: its signature is the input, its docstring the description for the model."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import AsyncIterator, Callable
from typing import Any

from pydantic import BaseModel, create_model

from codeagent.core.clean import clean_line
from codeagent.core.effects import Effect, Permit, Risk
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Plain
from codeagent.tools.inputs import Input


class FunctionTool:
    """Calls `function`, a plain one in a thread. LOW risk runs without a question, the rest is asked for."""

    def __init__(self, function: Callable[..., Any], *, risk: Risk = Risk.HIGH, timeout: float = 60.0) -> None:
        self.name = function.__name__
        self.description = inspect.getdoc(function) or self.name
        self.timeout = timeout
        self.Input = _input(function)
        self._function, self._risk = function, risk

    async def plan(self, args: BaseModel) -> Effect:
        label = ", ".join(f"{name}={value!r}" for name, value in args)
        said = clean_line(f"{self.name}({label})")
        return Effect(self.name, clean_line(label) or self.name, f"Run {said}", self._risk, Plain(said))

    async def run(self, args: BaseModel, permit: Permit) -> AsyncIterator[Progress | Result]:
        given = dict(args)
        if inspect.iscoroutinefunction(self._function):
            answer = await self._function(**given)
        else:
            answer = await asyncio.to_thread(self._function, **given)
        yield answer if isinstance(answer, Result) else Result.of(str(answer), summary="done")


def _input(function: Callable[..., Any]) -> type[Input]:
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{function.__name__}: a tool takes named parameters only, not *{name}")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints.get(name, str), default)
    return create_model(function.__name__, __base__=Input, **fields)
