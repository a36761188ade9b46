"""Standard streams that never block the loop: bytes in as they come, lines out through a thread."""

from __future__ import annotations

import asyncio
import os
import queue
import select
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
    """Writes to `fd` in order, from a thread, so that a reader that is slow never holds up a turn.

    `broken` is called once, from that thread, when nobody reads any more; what is written after
    that is dropped.
    """

    def __init__(self, fd: int, broken: Callable[[], None] = lambda: None) -> None:
        self._fd = fd
        self._broken = broken
        self._gone = False
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._drain, name=f"outlet-{fd}", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Queue `text`, encoded as UTF-8; what cannot be encoded becomes a question mark."""
        self._waiting.put(text.encode("utf-8", "replace"))

    async def close(self, patience: Callable[[], float]) -> bool:
        """Wait until all is written, at most `patience()` seconds; False when some of it was not."""
        self._waiting.put(None)
        watch = Stopwatch()
        self._thread.join(0.05)  # nearly always enough
        while self._thread.is_alive() and watch.ms < 1000 * patience():  # noqa: ASYNC110 - a thread ends; a signal shortens it
            await asyncio.sleep(0.02)
        return not self._thread.is_alive() and not self._gone

    def _drain(self) -> None:
        while (data := self._waiting.get()) is not None:
            if self._gone:
                continue
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


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def ms(self) -> int:
        """How long it has run."""
        return int(1000 * (time.monotonic() - self._start))
