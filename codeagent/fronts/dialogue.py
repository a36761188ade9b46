"""The headless front in conversation with a program: many messages on standard input, a result line for each turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from codeagent.core.effects import Answer, AskPermission, Question
from codeagent.core.errors import UsageFault
from codeagent.core.messages import Image
from codeagent.fronts.channel import Channel
from codeagent.fronts.ending import Course, Ending
from codeagent.fronts.headless import Headless
from codeagent.fronts.piped import NO_PROMPT
from codeagent.fronts.streams import Stopwatch, Typed
from codeagent.fronts.wire_lines import Line

if TYPE_CHECKING:
    from codeagent.core.ports import Front
    from codeagent.fronts.desk import Desk
    from codeagent.options import Options

Message = tuple[str, tuple[Image, ...]]


class Dialogue(Headless):
    """Attended when the program said that it answers permission requests (`--permission-prompt-tool stdio`)."""

    def __init__(self, options: Options, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        super().__init__(options, stdin, stdout, stderr)
        self._channel = Channel(Typed(stdin), lambda line: self._lines([line]))
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._turn: asyncio.Task[None] | None = None
        self._desk: Desk | None = None

    @property
    def attended(self) -> bool:
        """Whether the program answers permission requests."""
        return self._options.permission_prompt_tool == "stdio"

    async def ask(self, question: Question) -> Answer:
        """Permissions are asked of the program; limits hold, and questions of the model stay unanswered."""
        return await self._channel.may(question) if isinstance(question, AskPermission) else Answer("no")

    async def _work(self, connect: Callable[[Front], Desk]) -> Ending:
        self._desk = desk = connect(self)
        listener = asyncio.create_task(self._listen())
        try:
            if self._options.prompt:
                self._messages.put_nowait((self._options.prompt, ()))
            ending = await self._turns(desk)
            await listener  # a line that could not be understood is raised here
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError, UsageFault):
                await listener
            await desk.close()
        if ending is None:
            raise UsageFault(NO_PROMPT)
        return ending

    async def _listen(self) -> None:
        try:
            await self._channel.listen(self._said, self._command)
        finally:
            self._messages.put_nowait(None)

    async def _turns(self, desk: Desk) -> Ending | None:
        """One turn and one result line a message, until there are no more. The last ending, None without a message."""
        ending = None
        while (message := await self._messages.get()) is not None:
            self._course, self._watch, self._told = Course(), Stopwatch(), False
            if ending is None:
                self._open(desk)
            self._turn = asyncio.create_task(desk.agent.say(*message))
            try:
                await self._turn
            except asyncio.CancelledError:
                if self._signal or not self._turn.cancelled():
                    raise
            finally:
                self._turn = None
            ending = self._course.ending(desk.agent.mode)
            self._finish(ending)
        return ending

    def _said(self, text: str, pictures: tuple[Image, ...]) -> None:
        """A message; one that comes while a turn runs goes into that turn after its current step."""
        if self._turn is not None and self._desk is not None and not pictures:
            self._desk.agent.steer(text)
        else:
            self._messages.put_nowait((text, pictures))

    def _command(self, subtype: str, fields: Mapping[str, Any]) -> Line:
        """Do what the program asks; the fields of the answer. Raises UsageFault for what we cannot do."""
        assert self._desk is not None, "the listener starts behind the desk"
        match subtype:
            case "initialize":
                return {"commands": [], "output_style": "default", "models": _models(self._desk)}
            case "interrupt":
                if self._turn is not None and not self._turn.cancelling():
                    self._turn.cancel()
            case "set_permission_mode":
                self._desk.agent.switch(mode=str(fields.get("mode", "")))
            case "set_model":
                self._desk.agent.switch(model=str(fields.get("model") or ""))
            case _:
                raise UsageFault(f"This codeagent knows no control request {subtype!r}.")
        return {}


def _models(desk: Desk) -> list[Line]:
    return [{"value": name, "displayName": name, "description": about} for name, about in desk.models()]
