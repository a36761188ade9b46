"""Markdown is cut where nothing can change any more, however it was chopped on its way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.fronts.tui.splitter import LONGEST_LIST, Splitter, split

PROSE = ["", " ", "word", "more words", "  indented", "# head", "> quote", "12"]
LISTS = ["- item", "1. one", "2. two", "-", "12.", "* x"]
CODE = ["```py", "```", "~~~", "````", "  ```", "`", "    code"]
LINES = st.sampled_from([*PROSE, *LISTS, *CODE])
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


@given(TEXTS, st.lists(st.integers(0, 30), max_size=12))
def test_chopping_makes_no_difference(text: str, cuts: list[int]) -> None:
    splitter, parts, at = Splitter(), [], 0
    for cut in cuts:
        parts += splitter.feed(text[at : at + cut])
        at += cut
    parts += splitter.feed(text[at:])
    parts += splitter.finish()
    assert parts == split(text)


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    said = [line for line in text.split("\n") if line.strip()]
    kept = [line for part in split(text) for line in part.split("\n") if line.strip()]
    assert kept == said


@given(TEXTS, st.integers(0, 400))
def test_the_tail_is_what_was_not_closed(text: str, cut: int) -> None:
    splitter = Splitter()
    closed = splitter.feed(text[:cut])
    shown = [line for part in [*closed, splitter.tail] for line in part.split("\n") if line.strip()]
    assert shown == [line for line in text[:cut].split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one\n\ntwo", ["one", "two"]),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n```py\na\n\nb\n```\ntwo", ["one", "```py\na\n\nb\n```", "two"]),
        ("- a\n\n- b\n\nend", ["- a\n\n- b", "end"]),
        ("- a\n\n  more\n\n- b", ["- a\n\n  more\n\n- b"]),
        ("1. a\n   ```\n   x\n\n   y\n   ```\n2. b", ["1. a\n   ```\n   x\n\n   y\n   ```\n2. b"]),
        ("````\n```\n````\nend", ["````\n```\n````", "end"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("`` ` ``\n\nx", ["`` ` ``", "x"]),
        ("", []),
        ("\n\n \n", []),
    ],
)
def test_where_it_cuts(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_a_paragraph_closes_with_the_first_letter_of_the_next() -> None:
    splitter = Splitter()
    assert splitter.feed("one\n\n") == []
    assert splitter.feed("t") == ["one"]
    assert splitter.tail == "t"


def test_an_open_fence_is_known() -> None:
    splitter = Splitter()
    splitter.feed("```py\nx = 1\n")
    assert splitter.in_code
    assert splitter.feed("```\n") == ["```py\nx = 1\n```"]
    assert not splitter.in_code


def test_a_very_long_loose_list_is_cut() -> None:
    item = f"- {'x' * 100}\n\n"
    parts = split(item * 100)
    assert len(parts) > 1
    assert all(len(part) < LONGEST_LIST + 200 for part in parts)
