"""What comes on standard input beside the prompt."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator

import pytest

from codeagent.fronts import piped
from codeagent.fronts.streams import Typed


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(fd)


async def test_an_open_but_silent_input_is_passed_by_with_a_notice(pipe: tuple[int, int]) -> None:
    told: list[str] = []
    start = time.monotonic()
    assert await piped.whole_prompt("hello", pipe[0], told.append, patience=0.05) == "hello"
    assert time.monotonic() - start < 2
    assert "silent" in told[0]


async def test_an_input_that_speaks_is_read_to_its_end(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"first ")
    task = asyncio.create_task(piped.whole_prompt("hello", reading, print, patience=0.05))
    await asyncio.sleep(0.15)  # longer than the patience: it has begun to speak
    os.write(writing, b"second")
    os.close(writing)
    assert await task == "hello\n\nfirst second"


async def test_without_a_prompt_the_input_is_waited_for(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    task = asyncio.create_task(piped.whole_prompt("", reading, print, patience=0.01))
    await asyncio.sleep(0.05)
    os.write(writing, b"now")
    os.close(writing)
    assert await task == "now"


async def test_a_closed_input_is_none() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    assert await piped.whole_prompt("hello", reading, print) == "hello"


async def test_bytes_that_are_no_utf8_are_replaced(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"caf\xe9")
    os.close(pipe[1])
    assert await piped.whole_prompt("", pipe[0], print) == "caf\ufffd"


async def test_typed_lines_come_whole_and_cancelling_loses_none(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    typed = Typed(reading)
    os.write(writing, b"one\ntw")
    assert await typed.line() == "one"
    waiting = asyncio.create_task(typed.line())
    await asyncio.sleep(0.02)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.write(writing, b"o\r\nthree")
    assert await typed.line() == "two"
    os.close(writing)
    assert await typed.line() == "three"
    assert await typed.line() is None
