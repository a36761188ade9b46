"""Runs one shell line as a process group of its own, reads what it prints, and leaves nothing of it behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from codeagent.host import strays
from codeagent.host.environment import shell_environment
from codeagent.host.output import Output

LONGEST_COMMAND = 128 * 1024 - 1
"""Bytes that one argument may have on Linux."""

SETTLING = 0.25
"""Seconds that a shell's children may take to finish after it has ended, before they count as left running."""

_CHUNK = 256 * 1024
_FD = 200
"""The descriptor on which the shell tells its directory; above all that scripts use by number."""

_START = str(Path(__file__).with_name("start.bash"))


class ShellProcess:
    """A shell line that runs. Made within a running event loop; `finish` or `end` must be awaited once.

    stdin is empty, stdout and stderr are one pipe into `output`, there is no terminal. `code` is the
    exit code (128 + n for signal n), None while it runs; `cwd` is where the shell stood at the end,
    empty when it did not say. `prefix` are words that run the shell within something else (host/sandbox.py).
    `over` is called once when nothing of it runs any more; `appeared` is what that gave.
    Raises OSError when the shell cannot be started.
    """

    def __init__(
        self,
        command: str,
        cwd: Path,
        env: Mapping[str, str],
        cookie: str,
        output: Output,
        prefix: Sequence[str] = (),
        over: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.cookie = cookie
        self.output = output
        self.code: int | None = None
        self.cwd = ""
        self.appeared: tuple[str, ...] = ()
        self._when_over = over
        self._loop = asyncio.get_running_loop()
        self._exited = self._loop.create_future()
        with ExitStack() as ours, ExitStack() as childs:
            ours.callback(output.close)
            self._pipe, out = _wide_pipe()
            ours.callback(os.close, self._pipe)
            childs.callback(os.close, out)
            self._told, tell = os.pipe()
            ours.callback(os.close, self._told)
            childs.callback(os.close, tell)
            os.set_blocking(self._told, False)
            self._popen = _spawn(command, cwd, {**env, strays.COOKIE: cookie}, out, tell, prefix)
            ours.pop_all()  # it runs: from now on they are closed when it is over
        self._open = True
        self._over = False
        self._loop.add_reader(self._pipe, self._read)
        self._watch()

    @property
    def pid(self) -> int:
        """Id of the shell and of its group."""
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether the shell itself still runs."""
        return self.code is None

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for the shell to end, at most so long. Returns whether it has ended."""
        await asyncio.wait({self._exited}, timeout=seconds)
        return not self.running

    async def finish(self) -> tuple[strays.Stray, ...]:
        """After the shell has ended: take the rest of the output and end what it left in its group.

        Returns the processes that had to be ended. A child that made a session of its own lives on
        until the session is swept.
        """
        left: tuple[strays.Stray, ...] = ()
        try:
            deadline, pause = self._loop.time() + SETTLING, 0.002
            self._drain()
            while (self._open or self._group_lives()) and self._loop.time() < deadline:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.05)  # a look costs some milliseconds
            if self._group_lives():
                left = await strays.end(self._group, self.pid)
        except asyncio.CancelledError:
            strays.kill(self._all, self.pid)
            raise
        finally:
            self._close()
        return left

    async def end(self) -> None:
        """End it with all its children, wherever they went: TERM, and KILL after two seconds.

        Does nothing once it was finished: its group's number may be another's by then.
        """
        if self._over:
            return
        try:
            await strays.end(self._all, self.pid)
            await self.wait(1)
        finally:
            self._drain()
            self._close()

    def _all(self) -> tuple[strays.Stray, ...]:
        return strays.belonging(self.cookie, self.pid)

    def _group(self) -> tuple[strays.Stray, ...]:
        return tuple(stray for stray in self._all() if stray.group == self.pid)

    def _group_lives(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return bool(self._group())  # the group may be down to zombies that nobody has reaped yet

    def _read(self) -> bool:
        """Take one piece from the pipe; False when there is none now."""
        try:
            data = os.read(self._pipe, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self.output.feed(data)
        else:
            self._shut()
        return self._open

    def _drain(self) -> None:
        """Take what is in the pipe now; bounded, since someone may still be writing."""
        for _ in range(64):
            if not self._open or not self._read():
                return

    def _shut(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)

    def _close(self) -> None:
        if not self._over:
            self.appeared = self._when_over()
        self._over = True
        self._shut()
        if self._told >= 0:
            os.close(self._told)
            self._told = -1
        self.output.close()

    def _watch(self) -> None:
        """Have `_ended` called when the shell ends: by a descriptor on Linux, by a waiting thread elsewhere."""
        if sys.platform.startswith("linux"):
            try:
                fd = os.pidfd_open(self.pid)
            except OSError:
                fd = -1  # a kernel before 5.3, or a sandbox that forbids it
            if fd >= 0:
                self._loop.add_reader(fd, self._ended, fd)
                return
        wait = threading.Thread(target=self._wait_and_tell, name=f"wait-{self.pid}", daemon=True)
        wait.start()

    def _wait_and_tell(self) -> None:
        self._popen.wait()
        self._loop.call_soon_threadsafe(self._ended, -1)

    def _ended(self, fd: int) -> None:
        if fd >= 0:
            self._loop.remove_reader(fd)
            os.close(fd)
        status = self._popen.wait()
        self.code = status if status >= 0 else 128 - status
        if self._told >= 0:
            try:
                self.cwd = os.fsdecode(os.read(self._told, 65536)).removesuffix("\n")
            except BlockingIOError:
                self.cwd = ""
        if not self._exited.done():
            self._exited.set_result(None)


def signal_of(code: int) -> str:
    """The name of the signal that an exit code above 128 stands for, or an empty string."""
    try:
        return signal.Signals(code - 128).name if code > 128 else ""
    except ValueError:
        return ""


def _spawn(
    command: str, cwd: Path, env: Mapping[str, str], out: int, tell: int, prefix: Sequence[str]
) -> subprocess.Popen[bytes]:
    """The shell as leader of a new session; it writes to `out`, and its last directory to `tell`."""
    high = fcntl.fcntl(tell, fcntl.F_DUPFD_CLOEXEC, _FD)
    try:
        return subprocess.Popen(
            [*prefix, "bash", "--noprofile", "--norc", "-c", "--", command],
            cwd=cwd,
            env=shell_environment(env, BASH_ENV=_START, CODEAGENT_FD=str(high), PWD=str(cwd)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            pass_fds=(high,),
            start_new_session=True,
        )
    finally:
        os.close(high)


def _wide_pipe() -> tuple[int, int]:
    """A pipe whose reading end does not block, with a megabyte of room where the system allows it."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    if sys.platform.startswith("linux"):
        try:
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            return read, write  # the user's share of pipe memory is used up; 64 KB works too
    return read, write
