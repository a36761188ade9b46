"""Streamed Markdown, cut into closed blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.fronts.repl.splitter import Splitter


def blocks(text: str, size: int = 1) -> list[str]:
    splitter = Splitter()
    closed = [b for at in range(0, len(text), size) for b in splitter.feed(text[at : at + size])]
    return [*closed, *filter(None, [splitter.rest()])]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("one line", ["one line"]),
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("\n\n\na\n\n\n\nb\n\n", ["a", "b"]),
        ("```py\nx\n\ny\n```\nafter", ["```py\nx\n\ny\n```", "after"]),
        ("before\n```\nx\n```", ["before", "```\nx\n```"]),
        ("````\n```\nx\n```\n````\nz", ["````\n```\nx\n```\n````", "z"]),
        ("~~~\n```\n~~~\nz", ["~~~\n```\n~~~", "z"]),
        ("```\nnever closed\n\nmore", ["```\nnever closed\n\nmore"]),
        ("```\n```py is no end\n```", ["```\n```py is no end\n```"]),
        ("", []),
    ],
)
def test_blocks(text: str, wanted: list[str]) -> None:
    assert blocks(text) == wanted


@given(st.lists(st.sampled_from(["a", "b\n", "\n", "\n\n", "```", "```\n", "~~~\n", "- x\n", " "])), st.integers(1, 7))
def test_how_it_is_cut_for_the_wire_does_not_matter(parts: list[str], size: int) -> None:
    text = "".join(parts)
    assert blocks(text, size) == blocks(text, max(1, len(text)))


@given(st.lists(st.sampled_from(["a", "b\n", "\n\n", "```\n", "c "])))
def test_no_word_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join("".join(blocks(text)).split()) == "".join(text.split())
