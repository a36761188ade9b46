"""The headless front for a program: many messages on standard input, and the control channel beside them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from codeagent.core.effects import Answer, Question
from codeagent.core.errors import CodeagentError, UsageFault
from codeagent.core.events import Event, ToolFinished, UserSaid
from codeagent.core.messages import Image
from codeagent.fronts.channel import Channel
from codeagent.fronts.ending import Course, Ending
from codeagent.fronts.headless import Headless, fresh
from codeagent.fronts.piped import LIMIT, NO_PROMPT
from codeagent.fronts.streams import Stopwatch, Typed

if TYPE_CHECKING:
    from codeagent.core.ports import Front
    from codeagent.fronts.desk import Desk
    from codeagent.options import Options


PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What models take."""


class Said(Struct, frozen=True):
    """A message that came in."""

    text: str
    pictures: tuple[Image, ...] = ()


class Conversing(Headless):
    """One result line a message; ends when standard input does. With `--permission-prompt-tool stdio` it can be asked.

    A message that comes while a turn runs joins it after the next tool call; where none comes it is the next turn.
    """

    def __init__(self, options: Options, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        super().__init__(options, stdin, stdout, stderr)
        self._channel = Channel(lambda line: self._lines([line]), fresh, self._interrupt)
        self._inbox: asyncio.Queue[Said | None] = asyncio.Queue()
        self._speaking: asyncio.Task[None] | None = None
        self._desk: Desk | None = None
        self._told: Ending | None = None

    @property
    def attended(self) -> bool:
        """Whether the program on the other end answers for a person."""
        return self._options.permission_prompt_tool == "stdio" and self._channel.open

    async def ask(self, question: Question) -> Answer:
        """Ask over the channel."""
        return await self._channel.ask(question) if self.attended else Answer("no")

    def see(self, event: Event) -> None:
        """Tell it; after a tool call, what was said meanwhile joins the turn."""
        super().see(event)
        if isinstance(event, UserSaid) and self._options.replay_user_messages:
            self._lines([self._wire.replayed(event)])
        if isinstance(event, ToolFinished):
            self._fold_in()

    # --- the run ---

    async def _work(self, connect: Callable[[Front], Desk]) -> Ending:
        desk = self._desk = connect(self)
        listener = asyncio.create_task(self._listen(desk))
        ending: Ending | None = None
        try:
            self._open(desk)
            if self._options.prompt.strip():
                self._inbox.put_nowait(Said(self._options.prompt))
            while (said := await self._inbox.get()) is not None:
                ending = await self._turn(desk, said)
            await listener  # what was wrong with its lines is wrong with the run
        finally:
            listener.cancel()
            with contextlib.suppress(asyncio.CancelledError, CodeagentError):
                await listener
            await desk.close()
        if ending is None:
            raise UsageFault(NO_PROMPT)
        return ending

    async def _turn(self, desk: Desk, said: Said) -> Ending:
        self._course, self._watch = Course(self._course.bill), Stopwatch()
        self._speaking = asyncio.create_task(desk.agent.say(said.text, said.pictures))
        try:
            await self._speaking
        except asyncio.CancelledError:
            if self._signal:
                raise
        finally:
            self._speaking = None
        ending = self._course.ending(desk.agent.mode)
        self._finish(ending)
        return ending

    def _finish(self, ending: Ending) -> None:
        """The result line of a turn, and of a run that ended otherwise."""
        if ending is not self._told:
            self._told = ending
            super()._finish(ending)

    def _interrupt(self) -> None:
        if self._speaking is not None:
            self._speaking.cancel()

    def _fold_in(self) -> None:
        """Hand messages that wait to the turn that runs, up to the first that it cannot take."""
        kept: list[Said | None] = []
        while not self._inbox.empty():
            said = self._inbox.get_nowait()
            if said is None or said.pictures or kept or self._desk is None:
                kept.append(said)
            else:
                self._desk.agent.steer(said.text)
        for said in kept:
            self._inbox.put_nowait(said)

    # --- what comes in ---

    async def _listen(self, desk: Desk) -> None:
        typed, number = Typed(self._stdin), 0
        try:
            while (line := await typed.line()) is not None:
                number += 1
                if line.strip():
                    self._take(desk, _object(line, number), number)
        finally:
            self._channel.close()
            self._inbox.put_nowait(None)

    def _take(self, desk: Desk, line: Mapping[str, Any], number: int) -> None:
        match line.get("type"):
            case "user":
                self._inbox.put_nowait(_said(line, number))
            case "control_request":
                self._requested(desk, line.get("request_id"), line.get("request"))
            case "control_response":
                response = line.get("response")
                self._channel.answered(response if isinstance(response, Mapping) else {})
            case "control_cancel_request" | "keep_alive" | "update_environment_variables":
                pass
            case other:
                raise UsageFault(f"Line {number} of standard input has type {other!r}; user or control_* is wanted.")

    def _requested(self, desk: Desk, name: object, asked: object) -> None:
        """Do what the other side asks of us, and say how it went."""
        request: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {}
        try:
            self._channel.reply(name, self._served(desk, request))
        except CodeagentError as fault:
            self._channel.refuse(name, str(fault))

    def _served(self, desk: Desk, request: Mapping[str, Any]) -> Mapping[str, Any]:
        match request.get("subtype"):
            case "initialize":
                if request.get("hooks"):
                    raise UsageFault("Hooks over the control channel are not supported; nothing would call them.")
                return _about(desk)
            case "interrupt":
                self._interrupt()
                return {}
            case "set_permission_mode":
                desk.agent.switch(mode=str(request.get("mode") or ""))
                return {"mode": desk.agent.mode}
            case "set_model":
                from codeagent.models.choice import resolve

                desk.agent.switch(model=resolve(str(request.get("model") or "")))
                return {}
            case "mcp_status":
                return {"mcpServers": []}
            case other:
                raise UsageFault(f"codeagent does not know the request {other!r}.")


def _about(desk: Desk) -> Mapping[str, Any]:
    """What the other side is told of us at the beginning."""
    from codeagent.fronts.commands import COMMANDS

    commands = [{"name": c.name[1:], "description": c.help, "argumentHint": c.usage} for c in COMMANDS]
    models = [{"value": name, "displayName": name, "description": about} for name, about in desk.models()]
    return {
        "commands": commands,
        "agents": [],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": models,
        "account": {},
        "pid": os.getpid(),
    }


def _object(line: str, number: int) -> Mapping[str, Any]:
    if len(line) > LIMIT:
        raise UsageFault(f"Line {number} of standard input is longer than 10 MB.")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise UsageFault(f"Line {number} of standard input is no JSON: {fault}.") from None
    if not isinstance(found, dict):
        raise UsageFault(f"Line {number} of standard input is no JSON object.")
    return found


def _said(line: Mapping[str, Any], number: int) -> Said:
    """The words and pictures of a `user` line. Raises UsageFault when there are none."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        said = Said(content)
    else:
        blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        said = Said("\n".join(texts), tuple(picture for block in blocks for picture in _pictures(block)))
    if not said.text.strip() and not said.pictures:
        raise UsageFault(f'Line {number} of standard input says nothing: "message": {{"content": TEXT}} is wanted.')
    return said


def _pictures(block: Mapping[str, Any]) -> list[Image]:
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, Mapping) or source.get("type") != "base64":
        return []
    kind, data = source.get("media_type"), source.get("data")
    return [Image(kind, data)] if kind in PICTURES and isinstance(data, str) else []
