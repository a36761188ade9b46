"""The bash tool: a line is read, judged elsewhere, run, and told to the model with what matters of its output."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, field_validator, model_validator

from codeagent.core.clean import clean_line
from codeagent.core.effects import Effect, Permit, Risk, ShellReading, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Shell
from codeagent.host.jobs import Job, Jobs, Reach
from codeagent.host.process import LONGEST_COMMAND, ShellProcess, signal_of
from codeagent.host.strays import Stray
from codeagent.host.workspace import Workspace
from codeagent.tools import kept_out
from codeagent.tools.sights import sights

INLINE = 9_700
"""Bytes of output that the model gets at most; with the note on the rest it stays under 10,000."""

DEFAULT_TIMEOUT = 120.0
MAX_TIMEOUT = 600.0

_BEAT = 0.1
"""Seconds between two pieces of progress."""

_FIRST_LOOK = 0.3
"""Seconds that a job may take to fail at once, so that its start can say so."""

_BENIGN = frozenset({"grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "[", "[[", "find", "git diff", "git grep"})
"""Programs whose exit code 1 is an answer, not a failure."""

DENIED = (
    "the sandbox kept this from the network, or from writing outside the project or in its protected places; "
    "if it is needed, run it again with outside: true, and the user is asked"
)

WITH_A_YES = "; if it is wanted, make it with outside: true, and the user is asked"


class BashInput(BaseModel):
    """A command to run, or a background job to look after."""

    command: str = ""
    timeout: Annotated[float | None, Field(gt=0, description="seconds, default 120, at most 600")] = None
    run_in_background: bool = False
    cwd: Annotated[str, Field(description="directory for this call only")] = ""
    job: Annotated[str, Field(description="instead of command: job id, gives its new output; waits timeout")] = ""
    stop: Annotated[bool, Field(description="end that job")] = False
    outside: Annotated[bool, Field(description="not in the sandbox; the user is asked")] = False

    @field_validator("command")
    @classmethod
    def _can_run(cls, command: str) -> str:
        if "\0" in command:
            raise ValueError("holds a NUL character, which no command can; leave it out")
        try:
            size = len(command.encode())
        except UnicodeEncodeError as error:
            raise ValueError("holds half a character (a lone surrogate); write the character itself") from error
        if size > LONGEST_COMMAND:
            raise ValueError(f"has {size:,} bytes, {LONGEST_COMMAND:,} are possible; write it to a file and run that")
        return command

    @field_validator("timeout")
    @classmethod
    def _within_limit(cls, timeout: float | None) -> float | None:
        return None if timeout is None else min(timeout, MAX_TIMEOUT)

    @model_validator(mode="after")
    def _one_thing(self) -> BashInput:
        if self.job and self.command.strip():
            raise ValueError("command and job exclude each other: give one of them")
        if not self.job and not self.command.strip():
            raise ValueError("command is empty: give the line to run")
        return self


class Bash:
    """Runs shell lines. `read_line(command, cwd)` reads a line without running it."""

    name: ClassVar[str] = "bash"
    description: ClassVar[str] = (Path(__file__).parent / "prompts" / "bash.md").read_text(encoding="utf-8").strip()
    timeout: ClassVar[float] = MAX_TIMEOUT + 10
    Input: ClassVar[type[Any]] = BashInput

    def __init__(self, workspace: Workspace, read_line: Callable[[str, str], ShellReading], jobs: Jobs) -> None:
        self._workspace = workspace
        self._read_line = read_line
        self._jobs = jobs

    async def plan(self, args: BashInput) -> Effect:
        if args.job:
            return self._plan_job(args)
        cwd = self._directory(args.cwd)
        reading = self._read_line(args.command, str(cwd))
        risk = max((part.risk for part in reading.parts), default=Risk.HIGH) if reading.plain else Risk.HIGH
        outside = args.outside and self._jobs.sandbox is not None
        line = clean_line(args.command.strip())
        return Effect(
            tool=self.name,
            label=line,
            title=f"Run {'outside the sandbox: ' if outside else ''}{line}"
            + (" in the background" if args.run_in_background else ""),
            risk=Risk.HIGH if outside else risk,
            view=Shell(args.command, str(cwd)),
            touches=self._touches(cwd, args.cwd),
            shell=reading,
            cwd=str(cwd),
        )

    async def run(self, args: BashInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        if args.job:
            yield await self._look_after(args)
            return
        self._recheck(args.command, permit.effect)
        if args.run_in_background:
            yield await self._start(args, permit.effect)
            return
        clock = self._jobs.clock
        process = self._launched(args, permit.effect)
        limit = args.timeout or DEFAULT_TIMEOUT
        began = clock.monotonic()
        try:
            while not await process.wait(max(0.0, min(_BEAT, began + limit - clock.monotonic()))):
                if piece := process.output.fresh():
                    yield Progress(piece)
                if clock.monotonic() - began >= limit:
                    break
            timed_out = process.running
            left = () if timed_out else await process.finish()
        finally:
            await process.end()
        took = clock.monotonic() - began
        yield self._told(args, permit.effect, process, took, limit if timed_out else 0.0, left)

    def _recheck(self, command: str, effect: Effect) -> None:
        """The line still means what was permitted: no link was swapped in, no git configuration changed meanwhile."""
        cwd = Path(effect.cwd)
        if cwd.is_dir() and self._read_line(command, effect.cwd) != effect.shell:
            raise ToolFault(
                "What the command reaches is no longer what was permitted: a link or a setting changed meanwhile. "
                "Nothing was run; send it again.",
                summary="changed meanwhile",
                kind="stale",
            )

    def _directory(self, wanted: str) -> Path:
        here = self._workspace.cwd
        if not wanted:
            return here
        directory = (here / Path(wanted).expanduser()).resolve()
        if not directory.is_dir():
            raise ToolFault(
                f"cwd: {wanted} is not a directory. Leave cwd out to run in {here}.", kind="invalid_argument"
            )
        return directory

    def _touches(self, cwd: Path, named: str) -> tuple[Touch, ...]:
        if self._inside(cwd):
            return ()
        return (Touch(str(cwd), "read", "outside", named, "the command would run outside the project"),)

    def _inside(self, directory: Path) -> bool:
        roots = (self._workspace.root, *self._workspace.extra)
        return any(directory.resolve().is_relative_to(root) for root in roots)

    def _launched(self, args: BashInput, effect: Effect) -> ShellProcess:
        cwd = Path(effect.cwd)
        try:
            return self._jobs.run(
                args.command, cwd, self._workspace.env, self._workspace.spill, _reach(args, effect.shell)
            )
        except OSError as error:
            raise _not_started(error, cwd) from error

    # --- what the model is told

    def _told(
        self, args: BashInput, effect: Effect, process: ShellProcess, took: float, limit: float, left: tuple[Stray, ...]
    ) -> Result:
        """The result of a command that is over; `limit` is the time limit that ended it, or 0."""
        code = process.code if process.code is not None else 137
        shown = process.output.shown(INLINE)
        cwd, moved = self._cwd_after(args, Path(effect.cwd), process.cwd)
        notes = [*moved, *_left_note(left), *(note + WITH_A_YES for note in kept_out.of_command(process))]
        if limit:
            notes.append(
                f"timed out after {limit:g} s and was ended, with all its children; give a larger timeout"
                f" (at most {MAX_TIMEOUT:g}) or run it in the background"
            )
        elif code:
            notes.append(_exit_words(code))
        sandbox = None if args.outside else self._jobs.sandbox
        if code and sandbox and sandbox.denied(shown.text):
            notes.append(DENIED)
        failed = bool(limit) or (code != 0 and not (code == 1 and _answers(args.command, effect.shell)))
        outcome = f"timed out  {took:.1f} s" if limit else f"exit {code}  {took:.1f} s" if code else f"{took:.1f} s"
        outcome += f"  kept out {names}" if (names := kept_out.names(process)) else ""
        saw: tuple[Saw, ...] = ()
        if effect.shell and code == 0 and not limit and shown.text:
            saw = sights(args.command, effect.shell, Path(effect.cwd), cut=bool(shown.omitted))
        return Result.of(
            _with_notes(shown.text, notes),
            is_error=failed,
            summary=outcome,
            view=Shell(args.command, effect.cwd, shown.text, code),
            saw=saw,
            cwd=cwd,
            timed_out=bool(limit),
        )

    def _cwd_after(self, args: BashInput, cwd: Path, ended_in: str) -> tuple[str, list[str]]:
        """The shell's directory from now on (empty: unchanged) and what to say about it."""
        if args.cwd:
            return "", []
        root, before = self._workspace.root, self._workspace.seen.cwd
        notes = []
        if before and not Path(before).is_dir():
            notes.append(f"{before} no longer exists: this ran in the project root, {root}")
        now = ended_in or str(cwd)
        if not self._inside(Path(now)):
            notes.append(f"the shell ended in {now}, outside the project: the next command runs in {root}")
            now = str(root)
        return now if now != (before or str(root)) else "", notes

    # --- background

    async def _start(self, args: BashInput, effect: Effect) -> Result:
        cwd = Path(effect.cwd)
        try:
            job = self._jobs.start(
                args.command, cwd, self._workspace.env, self._workspace.spill, _reach(args, effect.shell)
            )
        except OSError as error:
            raise _not_started(error, cwd) from error
        await self._jobs.wait(job, _FIRST_LOOK)
        how = f"Give job {job.id} to read its new output, with stop to end it. All output: {job.file}."
        return _job_result(job, f"{job.id} started in the background. {how} It ends with the session.")

    def _plan_job(self, args: BashInput) -> Effect:
        job = self._job(args.job)
        verb = "Stop" if args.stop else "Look at"
        return Effect(
            tool=self.name,
            label=f"{job.id}: {clean_line(job.command)}",
            title=f"{verb} {job.id}",
            risk=Risk.LOW,
            view=Shell(job.command, str(job.cwd)),
            free=True,
        )

    async def _look_after(self, args: BashInput) -> Result:
        job = self._job(args.job)
        if args.stop:
            await self._jobs.stop(job)
        else:
            await self._jobs.wait(job, args.timeout or 0)
        return _job_result(job, "")

    def _job(self, id_: str) -> Job:
        job = self._jobs.get(id_)
        if job is None:
            known = ", ".join(each.id for each in self._jobs.list()) or "none was started"
            raise ToolFault(f"job: there is no {id_!r} in this session. Jobs: {known}.", kind="invalid_argument")
        return job


def _reach(args: BashInput, reading: ShellReading | None) -> Reach:
    """A line with git in it that was allowed and does more than read may write in `.git`."""
    parts = reading.parts if reading else ()
    git = any(not part.readonly and (part.words or part.text.split())[:1] in (("git",), ["git"]) for part in parts)
    return Reach(git=git, outside=args.outside)


def _job_result(job: Job, opening: str) -> Result:
    """A job's new output and how it stands."""
    output = job.process.output.fresh()
    if skipped := job.process.output.skipped:
        output = f"[... {skipped:,} bytes before this: {job.file}]\n{output}"
    if job.code is None:
        state = "runs"
    elif job.stopped:
        state = "stopped"
    else:
        state = f"ended: {_exit_words(job.code)}"
    text = _with_notes(output, [f"{job.id} {state}", *kept_out.of_job(job)])
    view = Shell(job.command, str(job.cwd), output, job.code)
    return Result.of(f"{opening}\n{text}".strip(), summary=f"{job.id} {state}", view=view)


def _with_notes(output: str, notes: list[str]) -> str:
    lines = [output.rstrip("\n") if output else "(no output)"]
    return "\n".join([*lines, *(f"[{note}]" for note in notes)])


def _exit_words(code: int) -> str:
    name = signal_of(code)
    return f"exit code {code}" + (f", signal {name}" if name else "")


def _left_note(left: tuple[Stray, ...]) -> list[str]:
    if not left:
        return []
    names = ", ".join(f"{stray.name} ({stray.pid})" for stray in left[:5])
    return [f"ended what the command left running: {names}; use run_in_background to keep it"]


def _answers(command: str, reading: ShellReading | None) -> bool:
    """Whether exit code 1 is an answer: it comes from the line's last program, unless that is inside a substitution."""
    if reading is None or not reading.parts or any(sign in command for sign in ("$(", "`", "<(", ">(")):
        return False
    last = reading.parts[-1]
    words = last.words or tuple(last.text.split())
    return words[0] in _BENIGN or " ".join(words[:2]) in _BENIGN if words else False


def _not_started(error: OSError, cwd: Path) -> ToolFault:
    if not cwd.is_dir():
        return ToolFault(f"{cwd} is gone: give another cwd, or make it again.", summary="no directory")
    why = "there is no bash on the PATH" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
    return ToolFault(f"The shell could not be started: {why}. Nothing was run.", summary="not started")
