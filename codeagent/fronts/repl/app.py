"""The plain front: a conversation line by line, for every terminal, screen reader and pipe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from codeagent.core.conversation import standing
from codeagent.core.effects import Answer, AskPermission, AskTrust, Question
from codeagent.core.events import Event
from codeagent.fronts import commands, present
from codeagent.fronts.repl.asking import Asking
from codeagent.fronts.repl.paper import Paper, Terminal
from codeagent.fronts.repl.printer import Printer
from codeagent.fronts.streams import Typed

if TYPE_CHECKING:
    from codeagent.core.ports import Front
    from codeagent.fronts.desk import Desk
    from codeagent.options import Options

YOU = "you: "
TWICE = 2.0
"""Seconds within which a second Ctrl+C leaves."""

WELCOME = "Say what you want. /help shows the commands, ! runs one of yours, Ctrl+C stops a turn, Ctrl+D leaves."


class Lines(Protocol):
    """Where messages come from."""

    async def line(self) -> str | None:
        """The next one, None when there are no more."""
        ...


def run(options: Options, connect: Callable[[Front], Desk]) -> int:
    """Converse until the person leaves; the exit code."""
    return asyncio.run(Repl(options, Terminal.of(os.environ), 0, sys.stdout).run(connect))


class Repl:
    """Owns the order of things: prompt, turn, questions, signals. Printing is the printer's."""

    attended = True

    def __init__(self, options: Options, terminal: Terminal, stdin: int, stdout: TextIO) -> None:
        self._options, self._terminal = options, terminal
        self._paper = Paper(stdout, terminal)
        self._printer = Printer(self._paper)
        self._typed = Typed(stdin)
        self._turn: asyncio.Task[Any] | None = None
        self._main: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[str | None] | None = None
        self._asking = asyncio.Lock()
        self._taken: list[str] = []
        self._leaving = False
        self._interrupted = 0.0
        self._signal = 0

    # --- the front ---

    def see(self, event: Event) -> None:
        """Print it."""
        self._printer.see(event)

    async def ask(self, question: Question) -> Answer:
        """Print the question and read lines until one answers it. The end of input means no."""
        async with self._asking:
            asking = Asking(self._paper, self._reply, os.environ, typed=self._terminal.typed)
            answer = await asking.ask(question)
            if isinstance(question, AskPermission) and answer.input is None and answer.hunks is None:
                self._printer.was_shown(question.use_id)
            return answer

    async def _reply(self) -> str | None:
        """A line for a question: from the listener while it runs beside the turn, else read here."""
        if not self._terminal.typed:
            line = await self._typed.line()
            self._paper.entered(line)
            return line
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer
        finally:
            self._answer = None

    # --- the conversation ---

    async def run(self, connect: Callable[[Front], Desk]) -> int:
        """From the first line to the last."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._end, int(number))
        desk = connect(self)
        self._main = asyncio.create_task(self._converse(desk))
        try:
            await self._main
        except asyncio.CancelledError:
            if not self._leaving:
                raise
        finally:
            await desk.close()
        if desk.resume_command and not self._signal:
            self._paper.line(f"To go on: {desk.resume_command}", "muted")
        return 128 + self._signal if self._signal else 0

    async def _converse(self, desk: Desk) -> None:
        if (question := desk.question()) is not None:
            await self._beside_lines(desk, self._consent(desk, question))
        self._draw(desk)
        lines = self._lines(desk)
        if self._options.resume == "":
            await self._command(desk, "/resume")
        if self._options.prompt:
            await self._message(desk, self._options.prompt)
        while not self._leaving:
            line = await self._next(lines)
            if line is None:
                self._paper.line()
                return
            if not line.strip():
                continue
            if message := commands.prepared(desk, line):
                await self._message(desk, message)
            elif commands.is_command(line):
                await self._command(desk, line)
            elif own := commands.own_command(line):
                await self._beside_lines(desk, desk.agent.shell(own))
            else:
                self._printer.typed(line)
                await self._message(desk, line)

    async def _consent(self, desk: Desk, question: AskTrust) -> None:
        """Show what the directory brings before any of it acts."""
        answer = await self.ask(question)
        desk.answer(question, yes=answer.verdict == "yes")

    def _draw(self, desk: Desk) -> None:
        self._printer = Printer(self._paper)
        agent = desk.agent
        for entry in standing(agent.journal.entries):
            self._printer.see(entry)
        self._printer.left_off()
        self._paper.gap()
        self._paper.line(f"codeagent in {desk.project}{f' ({desk.branch})' if desk.branch else ''}", "strong")
        self._standing(desk)
        self._paper.line(WELCOME, "muted")

    def _lines(self, desk: Desk) -> Lines:
        """The line editor where the terminal can carry one, whole lines as they come elsewhere."""
        if not self._terminal.live:
            return self._typed
        from codeagent.fronts.repl.prompt import Prompt  # prompt_toolkit, 90 ms

        desk.files()  # begins the listing, so that the first Tab has it
        return Prompt(desk.history, desk.files, self._taken, lambda: bool(desk.setting("vim")))

    async def _next(self, lines: Lines) -> str | None:
        """The next message. Ctrl+C twice on an empty prompt ends the input."""
        self._paper.gap()
        if lines is not self._typed and self._typed.ready:  # typed in the last moment of the turn
            ahead = await self._typed.line()
            self._paper.line(f"{YOU}{ahead}")
            return ahead
        while True:
            if lines is self._typed:
                self._paper.prompt(YOU)
            try:
                line = await lines.line()
            except KeyboardInterrupt:
                if self._again():
                    return None
                self._paper.line("Press Ctrl+C again to leave.", "muted")
                continue
            self._paper.entered(None if self._terminal.typed else line)
            return line

    async def _message(self, desk: Desk, text: str) -> None:
        while text and await self._beside_lines(desk, desk.agent.say(text)):
            text = "" if self._leaving else _taken_back(desk)
        self._paper.gap()
        self._standing(desk)

    async def _command(self, desk: Desk, line: str) -> None:
        outcome: list[commands.Outcome] = []

        async def act() -> None:
            outcome.append(await commands.run(desk, line, self._show, self._paper.copy, self._refill, _edit))

        await self._beside_lines(desk, act())
        if outcome == ["exit"]:
            self._leaving = True
        elif outcome == ["redraw"]:
            self._draw(desk)

    @property
    def _refill(self) -> commands.Refill | None:
        """Puts a message that was taken back where the next one is typed; only a live line can be edited."""
        return self._taken.append if self._terminal.live else None

    def _show(self, text: str) -> None:
        self._paper.line(text)

    def _standing(self, desk: Desk) -> None:
        agent = desk.agent
        self._paper.line(f"[{present.standing(agent.mode, agent.info.short, agent.meter, agent.info.window)}]", "muted")

    # --- a turn, and what is typed and pressed beside it ---

    async def _beside_lines(self, desk: Desk, work: Coroutine[Any, Any, None]) -> bool:
        """Run `work` to its end or until Ctrl+C (then True); lines typed meanwhile are answers or further messages."""
        self._turn = asyncio.create_task(work)
        listener = asyncio.create_task(self._listen(desk)) if self._terminal.typed else None
        try:
            await self._turn
            return False
        except asyncio.CancelledError:
            if self._signal or not self._turn.cancelled():
                raise
            return True
        finally:
            self._turn = None
            if listener is not None:
                listener.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await listener

    async def _listen(self, desk: Desk) -> None:
        while True:
            line = await self._typed.line()
            waiting = self._answer
            if waiting is not None and not waiting.done():
                waiting.set_result(line)
            elif line is None:
                return self._stop_turn()
            elif line.strip():
                await self._meanwhile(desk, line)

    async def _meanwhile(self, desk: Desk, line: str) -> None:
        """A line typed while it works: a command, or a word for the next step."""
        if commands.must_wait(line):
            self._show("That has to wait until the turn is over. Ctrl+C stops it.")
        elif not commands.is_command(line) or commands.prepared(desk, line):
            desk.agent.steer(commands.prepared(desk, line) or line)
        elif await commands.run(desk, line, self._show, self._paper.copy) == "exit":
            self._leaving = True
            self._stop_turn()

    def _stop_turn(self) -> None:
        if self._turn is not None and not self._turn.cancelling():
            self._turn.cancel()

    def _again(self) -> bool:
        """Whether Ctrl+C was pressed twice in a row."""
        last, self._interrupted = self._interrupted, time.monotonic()
        return self._interrupted - last < TWICE

    def _interrupt(self) -> None:
        """Ctrl+C outside the line editor."""
        if self._turn is not None:
            self._stop_turn()
        elif self._again():
            self._paper.line()
            self._end(0)
        else:
            self._paper.line("\nPress Ctrl+C again to leave.", "muted")
            self._paper.prompt(YOU)

    def _end(self, number: int) -> None:
        self._signal = self._signal or number
        self._leaving = True
        self._stop_turn()
        if self._main is not None:
            self._main.cancel()


def _edit(path: Path) -> None:
    """Open a file in the person's editor, which has the terminal meanwhile."""
    from codeagent.host.editor import edit_file

    edit_file(path, os.environ)


def _taken_back(desk: Desk) -> str:
    """The messages that still waited when the turn was stopped, oldest first."""
    texts = []
    while text := desk.agent.take_back():
        texts.append(text)
    return "\n\n".join(reversed(texts))
