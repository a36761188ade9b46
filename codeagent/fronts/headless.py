"""The headless front: one prompt, one run, an answer for people or lines for programs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from codeagent.core.clean import clean, clean_line
from codeagent.core.effects import Answer, Question
from codeagent.core.errors import CodeagentError
from codeagent.core.events import AssistantSaid, Event, Opened, ToolFinished
from codeagent.fronts import calls, present
from codeagent.fronts.ending import Course, Ending, of_error
from codeagent.fronts.json_lines import encoded, fresh_id
from codeagent.fronts.partials import Partials
from codeagent.fronts.piped import whole_prompt
from codeagent.fronts.streams import Outlet, Stopwatch
from codeagent.fronts.wire_lines import Line, WireLines

if TYPE_CHECKING:
    from codeagent.answer_schema import AnswerSchema
    from codeagent.core.ports import Front
    from codeagent.fronts.desk import Desk
    from codeagent.options import Options

ENDING_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

VERBOSE_LINES = 40
"""Lines of a result that `--verbose` shows."""

DRAIN = 30.0
"""Seconds that a slow reader gets for the rest of our output; 2 after a signal."""


def run(options: Options, connect: Callable[[Front], Desk]) -> int:
    """Run once, or talk to a program on standard input; the exit code."""
    if options.input_format == "stream-json":
        from codeagent.fronts.dialogue import Dialogue

        return asyncio.run(Dialogue(options).run(connect))
    return asyncio.run(Headless(options).run(connect))


def _schema(text: str) -> AnswerSchema | None:
    """The shape that the answer must have, if one is wanted."""
    if not text:
        return None
    from codeagent.answer_schema import AnswerSchema

    return AnswerSchema(text)


class Headless:
    """A front that nobody sits at: what would be asked is refused, and the run goes on."""

    @property
    def attended(self) -> bool:
        """Whether somebody can be asked."""
        return False

    def __init__(self, options: Options, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        self._options = options
        self._stdin, self._stdout = stdin, stdout
        self._watch = Stopwatch()
        self._schema = _schema(options.json_schema)
        self._course = Course(self._schema)
        self._partials = Partials()
        self._told = False
        self._signal = 0
        self._task: asyncio.Task[Ending] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._out = Outlet(stdout, self._nobody_reads)
        self._err = Outlet(stderr)
        self._wire = WireLines(options.session_id, fresh_id)

    # --- the front ---

    def see(self, event: Event) -> None:
        """Take note, and tell it in the wanted format."""
        self._course.see(event)
        if self._options.output_format == "stream-json":
            if self._options.include_partial_messages:
                self._lines(self._wire.partial(piece) for piece in self._partials.of(event))
            self._lines(self._wire.of(event))
        if self._options.output_format == "text":
            self._story(event)

    async def ask(self, question: Question) -> Answer:
        """Nobody is there: no."""
        return Answer("no")

    # --- the run ---

    async def run(self, connect: Callable[[Front], Desk]) -> int:
        """From the first signal handler to the last line."""
        self._loop = asyncio.get_running_loop()
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays in force
                self._loop.add_signal_handler(number, self._stop, int(number))
        self._task = asyncio.create_task(self._work(connect))
        try:
            ending = await self._task
        except CodeagentError as error:
            ending = of_error(error)
            if self._told:  # after the last result line
                self._err.write(f"codeagent: {clean(ending.words)}\n")
        except asyncio.CancelledError:
            ending = self._course.ending("", self._signal or int(signal.SIGINT))
        except BaseException as error:
            self._finish(Ending("error_during_execution", 1, "crashed", f"Unexpected error: {type(error).__name__}"))
            await self._close(1)
            raise
        if not self._told:
            self._finish(ending)
        return await self._close(ending.code)

    async def _work(self, connect: Callable[[Front], Desk]) -> Ending:
        prompt = await whole_prompt(self._options.prompt, self._stdin, self._tell)
        desk = connect(self)
        try:
            self._open(desk)
            await desk.agent.say(prompt)
        finally:
            await desk.close()
        return self._course.ending(desk.agent.mode)

    def _open(self, desk: Desk) -> None:
        """The session is known now: name it on every line from here on, and tell what was noted while it opened."""
        agent = desk.agent
        opened = next((e for e in reversed(agent.journal.entries) if isinstance(e, Opened)), None)
        if opened is None:
            return
        self._wire = WireLines(opened.session, fresh_id)
        if self._options.output_format == "stream-json":
            self._lines([self._wire.init(opened, model=agent.model, mode=agent.mode)])
        for entry in agent.journal.entries[desk.began :]:
            self.see(entry)

    def _stop(self, number: int) -> None:
        self._signal = self._signal or number
        if self._task is not None:
            self._task.cancel()

    def _nobody_reads(self) -> None:
        """Called from the outlet's thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop, int(signal.SIGPIPE))

    # --- what is written ---

    def _finish(self, ending: Ending) -> None:
        """The answer or the result line, once; what went wrong also on standard error."""
        self._told = True
        result = self._course.result(ending, self._watch.ms)
        match self._options.output_format:
            case "stream-json":
                if self._course.category:
                    self._lines([self._wire.failed(ending.words, self._course.category)])
                self._lines([self._wire.result(result)])
            case "json":
                self._lines([self._wire.result(result)])
            case _ if "structured_output" in result:
                self._answer(encoded(result["structured_output"]))
            case _:
                self._answer(result.get("result", ""))
        if ending.words:
            self._err.write(f"codeagent: {clean(ending.words)}\n")
        if self._options.output_format == "text" and self._course.bill.meter.requests:
            meter = self._course.bill.meter
            self._tell(present.closing(meter, self._course.tool_steps, self._watch.ms))

    def _answer(self, text: str) -> None:
        """The answer on standard output: exact for programs, cleaned for a terminal."""
        shown = clean(text) if os.isatty(self._stdout) else text
        if shown:
            self._out.write(shown if shown.endswith("\n") else f"{shown}\n")

    def _story(self, event: Event) -> None:
        step = f"[step {self._course.steps}]"
        match event:
            case AssistantSaid(uses=uses, stop=stop):
                if uses and event.text and self._options.verbose:
                    self._tell(f"{step} {clean(event.text)}")
                for use in uses:
                    self._tell(f"{step} {calls.spelled(use.name, use.input)}")
                if not uses:
                    self._tell(f"{step} stopped: {stop}, {present.STOPS[stop]}")
            case ToolFinished():
                mark = "" if event.outcome == "done" and not event.is_error else "failed: "
                self._tell(f"  {mark}{calls.first_line(event)}")
                if self._options.verbose and event.view:
                    for _, line in calls.view(event.view, VERBOSE_LINES):
                        self._tell(f"  | {line}")
            case _:
                worded = present.notice(event)
                if worded and event is not self._course.ended:
                    self._tell(clean_line(worded[1]))

    def _tell(self, words: str) -> None:
        if not self._options.quiet:
            self._err.write(f"{words}\n")

    def _lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._out.write(f"{encoded(line)}\n")

    async def _close(self, code: int) -> int:
        whole = await self._out.close(lambda: 2.0 if self._signal else DRAIN)
        await self._err.close(lambda: 2.0)
        return code if whole or self._signal else 141
