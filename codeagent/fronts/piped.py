"""What comes on standard input beside the prompt: bounded in size, and waited for only so long."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable

from codeagent.core.errors import UsageFault
from codeagent.fronts.streams import read

LIMIT = 10 * 1024 * 1024
"""Bytes of prompt, standard input included."""

PATIENCE = 3.0
"""Seconds that an open but silent standard input is waited for when a prompt was given."""

NO_PROMPT = (
    'There is nothing to do: no prompt was given. Give one, codeagent -p "your question", or send it on standard input.'
)


async def whole_prompt(prompt: str, fd: int, notice: Callable[[str], None], patience: float = PATIENCE) -> str:
    """The prompt, joined with what stands on `fd`. Raises UsageFault when there is none or it is too long."""
    piped = await _read(fd, patience if prompt.strip() else None, notice)
    if len(prompt.encode("utf-8", "replace")) + len(piped) > LIMIT:
        raise UsageFault("The prompt is longer than 10 MB. Save it to a file and ask to read that file.")
    text = piped.decode("utf-8", "replace").strip("\n")
    whole = "\n\n".join(part for part in (prompt, text) if part.strip())
    if not whole:
        raise UsageFault(NO_PROMPT)
    return whole


async def _read(fd: int, patience: float | None, notice: Callable[[str], None]) -> bytes:
    """Everything on `fd`, or the first bytes beyond the limit. Nothing when it is a terminal, closed or silent."""
    if not _sends(fd):
        return b""
    got = bytearray()
    try:
        async with asyncio.timeout(patience) as limit:
            while len(got) <= LIMIT and (data := await read(fd)):
                limit.reschedule(None)  # it speaks: now it is read to its end
                got += data
    except TimeoutError:
        notice(f"Standard input stayed open and silent for {patience:g} s; going on without it.")
    return bytes(got)


def _sends(fd: int) -> bool:
    try:
        mode = os.fstat(fd).st_mode
    except OSError:  # closed by whoever started us
        return False
    return not (stat.S_ISDIR(mode) or os.isatty(fd))
