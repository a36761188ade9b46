"""Between the composer and the agent: sends, steers, interrupts, runs commands. Knows no widget."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from codeagent.core.errors import CodeagentError
from codeagent.core.messages import Image

if TYPE_CHECKING:
    from pathlib import Path

    from textual.worker import Worker

    from codeagent.core.effects import Effect
    from codeagent.fronts.desk import Desk


class Room(Protocol):
    """What Talk needs of the screen around it."""

    def tell(self, text: str, level: str = "info") -> None: ...
    def redraw(self) -> None: ...
    def stand(self) -> None: ...
    def leave(self, code: int = 0) -> None: ...
    def copy_to_clipboard(self, text: str) -> None: ...
    def edit(self, path: Path) -> None: ...
    def refill(self, text: str) -> None: ...
    def run_worker(self, work: Any, *, group: str, exit_on_error: bool) -> Worker[None]: ...


class Talk:
    """One conversation at a time. What is sent before the desk is there is kept and sent then."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._desk: Desk | None = None
        self._unsent: list[tuple[str, tuple[Image, ...]]] = []
        self._turn: Worker[None] | None = None
        self._warming: asyncio.Future[None] | None = None
        self._idle = asyncio.Event()
        self._resend = False

    @property
    def desk(self) -> Desk | None:
        """The open session, None while it is being opened."""
        return self._desk

    @property
    def working(self) -> bool:
        """Whether a turn is running or about to."""
        return self._turn is not None and not self._turn.is_finished

    def begin(self, desk: Desk) -> None:
        """The desk is there."""
        self._desk = desk
        waiting, self._unsent = self._unsent, []
        for text, pictures in waiting:
            self.send(text, pictures)

    def warm(self) -> None:
        """Have the desk import what a request needs, once."""
        if self._desk is not None and self._warming is None:
            self._warming = asyncio.ensure_future(self._desk.warm())

    def send(self, text: str, pictures: tuple[Image, ...] = ()) -> None:
        """A message, a command, or a `!` line from the composer."""
        from codeagent.fronts import commands

        if self._desk is not None:
            text = commands.prepared(self._desk, text) or text
        if self._desk is None:
            self._unsent.append((text, pictures))
        elif commands.is_command(text) and text.split(maxsplit=1)[0].lower() == "/compact" and not self.working:
            self._idle.clear()  # it asks the model: Esc stops it, and what is typed meanwhile is said afterwards
            self._resend = True
            self._turn = self._start(self._work(self._desk, self._command(self._desk, text, own=True)), "agent")
        elif commands.is_command(text):
            self._start(self._command(self._desk, text), "command")
        elif self.working and (pictures or text.startswith("!")):
            self._room.tell("That has to wait until it is done: Up brings it back. Esc stops it.", "warning")
        elif self.working:
            self._desk.agent.steer(text)
        else:
            self._idle.clear()
            agent, own = self._desk.agent, text.removeprefix("!").strip()
            work = agent.shell(own) if text.startswith("!") and own else agent.say(text, pictures)
            self._turn = self._start(self._work(self._desk, work), "agent")
        self._room.stand()

    def interrupt(self) -> None:
        """Stop the turn; messages that waited are said next."""
        if self._turn is not None and self.working:
            self._resend = True
            self._turn.cancel()

    def take_back(self) -> str:
        """The newest message that still waits, withdrawn."""
        if self._desk is None:
            return self._unsent.pop()[0] if self._unsent else ""
        return self._desk.agent.take_back()

    def open(self, session: str) -> None:
        """Go on with another session."""
        if self._desk is not None and not self.working:
            try:
                self._desk.open(session)
            except CodeagentError as error:
                self._room.tell(str(error), "error")
            self._room.redraw()

    async def foresee(self, tool: str, given: Mapping[str, Any]) -> Effect | str | None:
        """What a call with this input would do, or why it could not; None where nobody knows."""
        return await self._desk.agent.foresee(tool, given) if self._desk else None

    async def stop(self, patience: float = 1.0) -> None:
        """Interrupt and wait until the turn has put its affairs in order, at most so many seconds."""
        turn, self._resend = self._turn, False
        if turn is not None and not turn.is_finished:
            turn.cancel()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._idle.wait()

    def _start(self, work: Any, group: Literal["agent", "command"]) -> Worker[None]:
        return self._room.run_worker(work, group=group, exit_on_error=False)

    async def _work(self, desk: Desk, work: Coroutine[Any, Any, None]) -> None:
        try:
            self.warm()
            if self._warming is not None:
                with contextlib.suppress(CodeagentError):  # the turn itself tells what is wrong
                    await asyncio.shield(self._warming)
            await work
        except CodeagentError as error:
            self._room.tell(str(error), "error")
        finally:
            work.close()  # when it was stopped before it began
            self._turn = None
            self._idle.set()
            self._room.stand()
            if self._resend:
                self._resend = False
                self._say_waiting(desk)

    def _say_waiting(self, desk: Desk) -> None:
        texts = []
        while text := desk.agent.take_back():
            texts.append(text)
        if texts:
            self.send("\n\n".join(reversed(texts)))

    async def _command(self, desk: Desk, line: str, *, own: bool = False) -> None:
        """Do what a command says; `own` when it is the turn itself."""
        from codeagent.fronts import commands

        if self.working and not own and commands.must_wait(line):
            self._room.tell("That has to wait until it is done, or stop it first with Esc.", "warning")
            return
        room = self._room
        room.tell(line, "command")
        match await commands.run(desk, line, room.tell, self._copy, room.refill, room.edit):
            case "exit":
                self._room.leave()
            case "redraw":
                self._room.redraw()
            case _:
                self._room.stand()

    def _copy(self, text: str) -> bool:
        self._room.copy_to_clipboard(text)
        return True


Connect = Callable[..., "Desk"]
"""`connect(front, key="", model="", keep_key=False)`: opens the session; runs in a thread; raises CodeagentError."""
