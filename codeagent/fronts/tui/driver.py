"""The terminal's input and size, without polling or races: Esc acts after 30 ms, the last size wins.

Textual's own loop wakes ten times a second and finds a lone Esc, or the wish to end, only then. Its handler of
SIGWINCH reads the size in the handler itself: interrupted by the next signal it posts an old size last.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
from codecs import getincrementaldecoder

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size

from codeagent.fronts.tui.keys import LONE_ESCAPE
from codeagent.fronts.tui.pasting import Typed


class Terminal(LinuxDriver):
    """Textual's driver for Linux and macOS with another way to wait."""

    _wake: tuple[int, int] | None = None

    def start_application_mode(self) -> None:
        """Take over the terminal, and hear of its size in the loop, where one event follows the other."""
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual leaves it without types
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._resized)

    def _resized(self) -> None:
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self._app.post_message(Resize(size, size))

    def run_input_thread(self) -> None:
        """Feed what is typed to the parser until told to stop, or until the terminal is gone."""
        typed = Typed(XTermParser(self._debug))
        decode = getincrementaldecoder("utf-8")("replace").decode
        wake, _ = self._wake = os.pipe()
        wait: float | None = None
        while not self.exit_event.is_set():
            ready, _, _ = select.select([self.fileno, wake], [], [], wait)
            if wake in ready:
                break
            wait = None
            if ready:
                data = self._read()
                if not data:
                    os.kill(os.getpid(), signal.SIGHUP)  # the turn has to end well, as when the system says it
                    break
                text = decode(data)
                wait = LONE_ESCAPE * 1.1 if "\x1b" in text[-32:] else None
                for event in typed.feed(text):
                    self.process_message(event)
            for event in typed.tick():
                self.process_message(event)

    def switch_mouse(self, on: bool | None = None) -> str:
        """Listen to the mouse or not, by default the other way than now; what that means, in words."""
        if not self._mouse if on is None else on:
            self._mouse = True
            self._enable_mouse_support()
            return "the mouse is ours: wheel, clicks, selecting copies"
        self._disable_mouse_support()
        self._mouse = False
        return "the mouse is the terminal's now"

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, 1 << 14)
        except OSError:
            return b""

    def write(self, data: str) -> None:
        """Draw, unless the terminal hung up: then the thread that writes has ended, and its full queue would be waited
        for without end."""
        if self._writer_thread is None or self._writer_thread.is_alive():
            super().write(data)

    def disable_input(self) -> None:
        """Wake the reader, so that it can be waited for."""
        if self._wake is not None:
            with contextlib.suppress(OSError):
                os.write(self._wake[1], b"x")
        super().disable_input()
        if self._wake is not None:
            os.close(self._wake[0])
            os.close(self._wake[1])
            self._wake = None
