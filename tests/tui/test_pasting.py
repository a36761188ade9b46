"""What is pasted passes the parser by: the events stay those of the parser, however the bytes come in."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from os import write

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste
from textual.message import Message

from codeagent.fronts.tui.pasting import END, START, Typed
from tests.pty_terminal import Terminal
from tests.tui.test_pty import PLAY

SHORT = 3.0
"""Seconds that a paste of 3 MB may take on a busy machine; read character by character it takes eight."""

keys = st.sampled_from(["a", "é", "\r", "\x1b[A", "\x1b[1;5C", "\x1b[<0;3;4M", "\x1b[13;2u", "[", "2", "~"])
pasted = st.text("x\r[20~é", max_size=12).map(lambda text: f"{START}{text}{END}")


def told(event: Message) -> tuple[str, ...]:
    match event:
        case Key():
            return "key", event.key
        case Paste():
            return "paste", event.text
    return (type(event).__name__,)


def events(*pieces: str) -> list[tuple[str, ...]]:
    typed = Typed(XTermParser())
    return [told(event) for piece in pieces for event in typed.feed(piece)]


@given(st.lists(keys | pasted, max_size=8).map("".join), st.lists(st.integers(0, 60), max_size=6))
def test_events_are_those_of_the_parser_wherever_the_bytes_are_parted(stream: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(places)]
    whole = [told(event) for event in XTermParser().feed(stream)] if stream else []
    assert events(*pieces) == whole


def test_sequences_inside_a_paste_are_text() -> None:
    assert events(f"{START}a\x1b[Ib\x1b", f"[<1;NaN;2Mc\x00{END}d") == [
        ("paste", "a\x1b[Ib\x1b[<1;NaN;2Mc"),
        ("key", "d"),
    ]


@pytest.mark.pty
def test_a_very_long_paste_is_taken_sent_and_drawn_at_once(program_env: dict[str, str]) -> None:
    data = (START + "".join(f"row {n} — of many\r" for n in range(150_000)) + END).encode()
    with Terminal(PLAY, env=program_env) as terminal:

        def paste(rest: bytes = data) -> None:
            while rest:
                rest = rest[write(terminal.fd, rest) :]

        terminal.until("? keys")
        began = time.monotonic()
        pasting = threading.Thread(target=paste)
        pasting.start()
        terminal.until("[Pasted #1 +150001 lines]")
        pasting.join()
        assert time.monotonic() - began < SHORT
        began = time.monotonic()
        terminal.write("\r")
        terminal.until("more lines")
        terminal.write("still here")
        terminal.until(" › still here")
        assert time.monotonic() - began < SHORT
        terminal.until("That is all.")
        terminal.write("\x15")
        terminal.until("What shall we do?")
        terminal.write("\x1b[A")
        terminal.until("[Pasted #2 +150000 lines]")
