"""Running the app and every way out of it: the terminal is restored, the last words are printed, the process ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from codeagent.fronts.tui import keys

if TYPE_CHECKING:
    from codeagent.fronts.tui.app import Codeagent

ROWS = 12
"""Rows of the conversation that are left on the normal screen."""

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def run(app: Codeagent) -> int:
    """Run, say goodbye, and end the process: a normal interpreter exit after the SDK's import would take 0.3 s."""
    keys.teach()
    gc.disable()
    return asyncio.run(_session(app))


async def _session(app: Codeagent) -> int:
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, app.leave, 128 + number)
    app.call_later(_painted)
    await app.run_async(mouse=not app.options.no_mouse)
    code = await _farewell(app)
    if app.tour:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "codeagent", "demo"])
    os._exit(code)


def _painted() -> None:
    """The start is over: what lives now lives long, so the collector need not look at it again."""
    gc.freeze()
    gc.enable()


async def _farewell(app: Codeagent) -> int:
    """Print the end of the conversation and the way back; the exit code."""
    desk = app.talk.desk
    lines: list[str] = []
    if desk is not None:
        await desk.close()
        rows = app.transcript.last_rows(ROWS)
        if any(row.strip() for row in rows):
            lines = [*rows, ""]
            if desk.resume_command:
                lines.append(f"To go on: {desk.resume_command}")
    with contextlib.suppress(OSError):  # nobody is left to read it when the terminal is gone
        if lines:
            sys.stdout.write("\n".join(lines) + "\n")
        if app.crash is not None:
            sys.stderr.write(f"codeagent stopped by a fault of its own: {app.crash!r}{_place(app.crash)}\n")
        sys.stdout.flush()
        sys.stderr.flush()
    return 1 if app.crash is not None else app.return_value if app.return_value is not None else app.return_code or 0


def _place(error: BaseException) -> str:
    """Where it happened, without the values that a traceback would show."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" (line {trace.tb_lineno} of {trace.tb_frame.f_code.co_filename})" if trace else ""
