"""What is written to the terminal is little, and what stands there is right."""

from __future__ import annotations

import sys

import pytest
from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate
from textual.strip import Strip

from codeagent.fronts.tui.thrift import Thrift
from tests.pty_terminal import Terminal


def update(rows: list[str], top: int = 0) -> ChopsUpdate:
    """All rows of a widget of ten columns, and a bar of one beside it."""
    blank: list[dict[int, Strip | None]] = [{} for _ in range(top)]
    chops = [*blank, *({0: Strip([Segment(row.ljust(10))], 10), 10: Strip([Segment("|")], 1)} for row in rows)]
    spans = [(top + y, 0, 11) for y in range(len(rows))]
    return ChopsUpdate(chops, spans, [[10, 11] for _ in range(top + len(rows))])


def test_what_stands_there_already_is_not_written_again() -> None:
    thrift, console = Thrift(), Console(force_terminal=True)
    rows = [f"row {n}" for n in range(10)]
    assert "row 9" in thrift.sequence(update(rows), console)
    rows[4] = "other"
    assert thrift.sequence(update(rows), console).count("H") == 1
    thrift.forget()
    assert "row 0" in thrift.sequence(update(rows), console)


def test_rows_that_moved_up_are_scrolled_and_only_the_new_ones_written() -> None:
    thrift, console = Thrift(), Console(force_terminal=True)
    thrift.sequence(update([f"row {n}" for n in range(12)], top=2), console)
    written = thrift.sequence(update([f"row {n}" for n in range(2, 14)], top=2), console)
    assert "\x1b[3;14r\x1b[14;1H\x1bD\x1bD\x1b[r" in written
    assert [f"row {n}" in written for n in (5, 11, 12, 13)] == [False, False, True, True]


@pytest.mark.pty
def test_after_a_stream_the_screen_is_what_a_full_drawing_makes_it(program_env: dict[str, str]) -> None:
    play = [sys.executable, "-m", "tests.tui.play", "tokens=600", "rate=600", "prompt=go"]
    with Terminal(play, env=program_env) as terminal:
        terminal.until("mark5")
        terminal.until("? keys")
        streamed, written = terminal.text, len(terminal.raw)
        terminal.write("\x0c")
        terminal.until(lambda: len(terminal.raw) > written + 1000)
        while terminal._read(0.2):
            pass
        assert terminal.text == streamed
