"""The headless front in conversation with a program: many messages on standard input, a result line for each turn."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from codeagent.core.effects import Answer, Question
from codeagent.core.errors import UsageFault
from codeagent.core.events import Event, ToolFinished, UserSaid
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
        return self._options.permission_prompt_tool == "stdio" and self._channel.open

    async def ask(self, question: Question) -> Answer:
        """Permissions, plans and the model's questions are asked of the program; limits hold."""
        if not self.attended:
            return Answer("no")
        return replace(await self._channel.ask(question, self._interrupt), who="the driving program")

    def see(self, event: Event) -> None:
        """Tell it. After a tool call, what was said meanwhile joins the turn."""
        super().see(event)
        if isinstance(event, UserSaid) and self._options.replay_user_messages:
            self._lines([self._wire.replayed(event)])
        if isinstance(event, ToolFinished):
            self._fold_in()

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
            self._course, self._watch, self._told = Course(self._schema), Stopwatch(), False
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
        """A message; one that comes while a turn runs joins it after a tool call, or else is the next turn."""
        self._messages.put_nowait((text, pictures))

    def _fold_in(self) -> None:
        """Hand the messages that wait to the turn that runs, up to the first that it cannot take."""
        kept: list[Message | None] = []
        while not self._messages.empty():
            message = self._messages.get_nowait()
            if message is None or message[1] or kept or self._desk is None:
                kept.append(message)
            else:
                self._desk.agent.steer(message[0])
        for message in kept:
            self._messages.put_nowait(message)

    def _interrupt(self) -> None:
        if self._turn is not None and not self._turn.cancelling():
            self._turn.cancel()

    def _command(self, subtype: str, fields: Mapping[str, Any]) -> Line:
        """Do what the program asks; the fields of the answer. Raises UsageFault for what we cannot do."""
        assert self._desk is not None, "the listener starts behind the desk"
        match subtype:
            case "initialize":
                if fields.get("hooks"):
                    raise UsageFault("Hooks over the control channel are not supported: nothing would call them.")
                return _about(self._desk)
            case "interrupt":
                self._interrupt()
            case "set_permission_mode":
                self._desk.agent.switch(mode=str(fields.get("mode", "")))
                return {"mode": self._desk.agent.mode}
            case "set_model":
                from codeagent.models.choice import resolve

                self._desk.agent.switch(model=resolve(str(fields.get("model") or "")))
            case "mcp_status":
                return {"mcpServers": []}
            case _:
                raise UsageFault(f"This codeagent knows no control request {subtype!r}.")
        return {}


def _about(desk: Desk) -> Line:
    """What the program is told of us at the beginning."""
    from codeagent.fronts.commands import COMMANDS

    return {
        "commands": [{"name": c.name[1:], "description": c.help, "argumentHint": c.usage} for c in COMMANDS],
        "agents": [],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [{"value": name, "displayName": name, "description": about} for name, about in desk.models()],
        "account": {},
        "pid": os.getpid(),
    }
