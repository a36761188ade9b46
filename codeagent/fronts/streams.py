"""Standard streams that never block the loop: bytes in as they come, lines out through a thread."""

from __future__ import annotations

import asyncio
import os
import queue
import select
import stat
import threading
import time
from collections.abc import Callable


async def read(fd: int, size: int = 65536) -> bytes:
    """The next bytes of `fd`, empty at its end; cancelling loses none."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        loop.remove_reader(fd)
        if not ready.done():
            ready.set_result(None)

    try:
        loop.add_reader(fd, wake)
    except PermissionError:  # epoll: regular files and /dev/null never block
        pass
    else:
        try:
            await ready
        finally:
            loop.remove_reader(fd)
    try:
        return os.read(fd, size)
    except OSError:  # a terminal that is gone reads as its end
        return b""


class Typed:
    """Whole lines from `fd`, as they come; what is not read yet stays for the next call."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._held = b""

    @property
    def ready(self) -> bool:
        """Whether a whole line was read already."""
        return b"\n" in self._held

    async def line(self) -> str | None:
        """The next line without its end, None when there are no more."""
        while b"\n" not in self._held:
            data = await read(self._fd)
            if not data:
                break
            self._held += data
        if not self._held:
            return None
        line, _, self._held = self._held.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")


class Outlet:
    """Writes to `fd` in order, and never holds up a turn for a reader that is slow.

    What a pipe or a file takes at once is written at once; the rest goes through a thread. (Waking a
    thread for each line cost 1.5 ms a step.) `broken` is called once, from either thread, when
    nobody reads any more; what is written after that is dropped.
    """

    def __init__(self, fd: int, broken: Callable[[], None] = lambda: None) -> None:
        self._fd = fd
        self._broken = broken
        self._gone = False
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._queued = 0
        self._written = 0
        self._thread: threading.Thread | None = None
        self._poll = _poll(fd)

    def write(self, text: str) -> None:
        """Write `text`, encoded as UTF-8; what cannot be encoded becomes a question mark."""
        data = text.encode("utf-8", "replace")
        if self._queued == self._written and self._takes(data):
            self._deliver(data)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._drain, name=f"outlet-{self._fd}", daemon=True)
            self._thread.start()
        self._queued += 1
        self._waiting.put(data)

    async def close(self, patience: Callable[[], float]) -> bool:
        """Wait until all is written, at most `patience()` seconds; False when some of it was not."""
        if self._thread is None:
            return not self._gone
        self._waiting.put(None)
        watch = Stopwatch()
        self._thread.join(0.05)  # nearly always enough
        while self._thread.is_alive() and watch.ms < 1000 * patience():  # noqa: ASYNC110 - a thread ends; a signal shortens it
            await asyncio.sleep(0.02)
        return not self._thread.is_alive() and not self._gone

    def _takes(self, data: bytes) -> bool:
        """Whether this can be written without waiting: up to PIPE_BUF bytes to a pipe that reports room."""
        return self._poll is not None and len(data) <= select.PIPE_BUF and bool(self._poll.poll(0))

    def _drain(self) -> None:
        while (data := self._waiting.get()) is not None:
            self._deliver(data)
            self._written += 1

    def _deliver(self, data: bytes) -> None:
        if self._gone:
            return
        try:
            self._put(data)
        except OSError:
            self._gone = True
            self._broken()

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:  # whoever shares this terminal made it non-blocking
                select.select([], [self._fd], [], 1.0)


def _poll(fd: int) -> select.poll | None:
    """Something that tells whether a pipe or a file has room; None for terminals and sockets, which may still block."""
    try:
        kind = os.fstat(fd).st_mode
    except OSError:
        return None
    if not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind)):
        return None
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return poll


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def ms(self) -> int:
        """How long it has run."""
        return int(1000 * (time.monotonic() - self._start))
