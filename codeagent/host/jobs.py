"""Shell lines of one session: started here, kept while they run in the background, all ended at the close."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.ports import Clock
from codeagent.host import strays
from codeagent.host.output import Output
from codeagent.host.process import ShellProcess
from codeagent.host.sandbox import Sandbox


@dataclass(slots=True)
class Job:
    """A shell line in the background. `file` gets all its output; `started` is on the monotonic clock."""

    id: str
    command: str
    cwd: Path
    file: Path
    started: float
    process: ShellProcess
    over: asyncio.Task[object]
    """Done when the job has ended and nothing of it is left in its group."""
    stopped: bool = False

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self.process.code


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a command may reach where there is a sandbox: into `.git`, or out of it altogether."""

    git: bool = False
    outside: bool = False


INSIDE = Reach()


class Jobs:
    """Starts shell processes for one session and knows those in the background."""

    def __init__(self, session: str, clock: Clock, sandbox: Sandbox | None = None) -> None:
        self.session = session
        self.clock = clock
        self._sandbox = sandbox
        self._numbers = itertools.count(1)
        self._jobs: dict[str, Job] = {}

    @property
    def sandbox(self) -> Sandbox | None:
        """The walls that commands run in; None where there are none, or where they do not work."""
        return None if self._sandbox is None or self._sandbox.problem else self._sandbox

    def run(self, command: str, cwd: Path, env: Mapping[str, str], spill: Path, reach: Reach = INSIDE) -> ShellProcess:
        """Start a shell line that the caller waits for. Its full output goes under `spill` if it is long."""
        cookie = self._cookie(next(self._numbers))
        output = Output(spill / _file_name(cookie))
        return self._process(command, cwd, env, cookie, output, reach)

    def start(self, command: str, cwd: Path, env: Mapping[str, str], spill: Path, reach: Reach = INSIDE) -> Job:
        """Start a shell line in the background; all its output goes to a file under `spill`."""
        cookie = self._cookie(next(self._numbers))
        output = Output(spill / _file_name(cookie), always_file=True)
        process = self._process(command, cwd, env, cookie, output, reach, waited=False)
        over = asyncio.create_task(_follow(process))
        job = Job(f"job{len(self._jobs) + 1}", command, cwd, output.file, self.clock.monotonic(), process, over)
        self._jobs[job.id] = job
        return job

    def list(self) -> tuple[Job, ...]:
        """All jobs of this session, the oldest first, ended ones too."""
        return tuple(self._jobs.values())

    def get(self, id_: str) -> Job | None:
        """The job of this name."""
        return self._jobs.get(id_)

    async def wait(self, job: Job, seconds: float) -> None:
        """Wait at most so long for a job to end; when it has ended, all of its output is there."""
        await asyncio.wait({job.over}, timeout=seconds)
        if not job.process.running:
            await asyncio.wait({job.over})

    async def stop(self, job: Job) -> None:
        """End a job with all its children; does nothing when it has ended."""
        if job.process.running:
            job.stopped = True
            await job.process.end()
        await asyncio.wait({job.over})

    async def close(self) -> None:
        """End everything that this session started and that still runs, wherever it went."""
        for job in self._jobs.values():
            job.stopped = job.stopped or job.process.running
        await strays.sweep(self._cookie())
        await asyncio.gather(*(job.over for job in self._jobs.values()))
        if self._sandbox is not None:
            self._sandbox.close()

    def _process(
        self,
        command: str,
        cwd: Path,
        env: Mapping[str, str],
        cookie: str,
        output: Output,
        reach: Reach,
        *,
        waited: bool = True,
    ) -> ShellProcess:
        """Within walls where there are some. A protected name that it makes is renamed when somebody waits for it.

        While a job runs for hours, the person may well have made it: then it is only told.
        """
        sandbox = None if reach.outside else self.sandbox
        if sandbox is None:
            return ShellProcess(command, cwd, env, cookie, output)
        prefix, watch = sandbox.prefix(cwd, env, git=reach.git), sandbox.watch(git=reach.git)
        return ShellProcess(command, cwd, env, cookie, output, prefix, watch.renamed if waited else watch.found)

    def _cookie(self, number: int = 0) -> str:
        prefix = f"{self.session}.{os.getpid()}."
        return f"{prefix}{number}." if number else prefix


def end_leftovers(session: str) -> tuple[str, ...]:
    """End at once what a killed codeagent left running of this session, which must be ours; the programs' names."""
    prefix = f"{session}."
    left = strays.belonging(prefix)
    strays.kill(lambda: strays.belonging(prefix))
    return tuple(stray.name for stray in left)


async def _follow(process: ShellProcess) -> None:
    """Wait for the end; when the program stops first, and cancels this, the process ends with it."""
    try:
        await process.wait()
        await process.finish()
    finally:
        await process.end()


def _file_name(cookie: str) -> str:
    return f"bash-{cookie}txt"
