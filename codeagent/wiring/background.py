"""The commands that sessions left running: shown and stopped for a person, ended with their session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from codeagent.core.errors import UsageFault
from codeagent.core.listed import ListedJob
from codeagent.host import strays
from codeagent.host.jobs import Job, Jobs
from codeagent.host.temporary import remove_left

READ = 10_000
"""Bytes of a job's output that a person is shown: its head and its tail."""


class Background:
    """The jobs of the open session; those of a session that was left are ended meanwhile."""

    def __init__(self) -> None:
        self._jobs: Jobs | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def follow(self, jobs: Jobs) -> None:
        """Another session is open now: what the one before left running is ended."""
        if self._jobs is not None and self._jobs.list():
            self._ending.add(asyncio.create_task(self._jobs.close()))
        self._jobs = jobs

    @property
    def sandbox(self) -> str:
        """`on` when commands run within walls, else `off`; empty before a session is open."""
        return "" if self._jobs is None else "on" if self._jobs.sandbox else "off"

    def listed(self) -> Sequence[ListedJob]:
        """The oldest first, ended ones too."""
        if self._jobs is None:
            return ()
        now = self._jobs.clock.monotonic()
        return tuple(
            ListedJob(job.id, job.command, now - job.started, job.code, job.stopped, str(job.file))
            for job in self._jobs.list()
        )

    def output(self, id_: str) -> str:
        """Head and tail of what it wrote so far. Raises UsageFault."""
        return self._job(id_).process.output.shown(READ).text

    async def stop(self, id_: str) -> None:
        """End it with all its children. Raises UsageFault."""
        job = self._job(id_)
        if self._jobs is not None:
            await self._jobs.stop(job)

    async def close(self) -> None:
        """End everything."""
        if self._jobs is not None:
            await self._jobs.close()
        await asyncio.gather(*self._ending)

    def _job(self, id_: str) -> Job:
        job = self._jobs.get(id_) if self._jobs else None
        if job is None:
            raise UsageFault(f"There is no job {id_!r}. /jobs lists them.")
        return job


def end_orphans() -> threading.Thread:
    """End and remove what crashed runs of this user left; in a thread, because it reads all of /proc (10 to 50 ms)."""

    def sweep() -> None:
        from tempfile import gettempdir

        asyncio.run(strays.sweep_orphans())
        remove_left(Path(gettempdir()))

    thread = threading.Thread(target=sweep, name="orphans", daemon=True)
    thread.start()
    return thread
