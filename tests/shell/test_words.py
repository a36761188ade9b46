"""Quote removal against bash itself, and its law."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.shell.words import decode, quote, suspicious

SAMPLES = [
    "a",
    "a\\ b",
    "'a b'",
    '"a b"',
    "a'b'\"c\"d",
    '"a\\"b"',
    '"a\\nb"',
    "'a\\'",
    '"\\$x"',
    "\\'",
    '"it\'s"',
    "''",
    '""',
    "a=b",
    "HEAD@{1}",
    "{}",
    "x{a}y",
    '"a$"',
    '"a$ b"',
    "--x=y",
    "a#b",
    "a~b",
    "HEAD~2",
    "a!b",
    "%1",
    "a:b",
    "^x",
    "\\*",
    "'*'",
    "a\\\\b",
    '"a\\\\b"',
    "]",
    "+x",
]


@pytest.mark.parametrize("raw", SAMPLES)
def test_known_words_are_what_bash_makes_of_them(raw: str) -> None:
    value = decode(raw)
    assert value is not None
    told = subprocess.run(["bash", "-c", f"printf '%s' {raw}"], capture_output=True, check=True, cwd="/", text=True)
    assert told.stdout == value


@pytest.mark.parametrize(
    "raw",
    [
        "$x",
        '"$x"',
        '"`x`"',
        "~",
        "~/a",
        "a=~",
        "x:~",
        "*",
        "a?",
        "[a]",
        "{a,b}",
        "{1..3}",
        "a\\\nb",
        '"a\\\nb"',
        "$'x'",
        '$"x"',
        "'open",
        '"open',
        "#a",
        "a;b",
    ],
)
def test_unknown_words_stay_unknown(raw: str) -> None:
    assert decode(raw) is None


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_what_is_quoted_is_read_back(word: str) -> None:
    assert decode(quote(word)) == word


def test_suspicious_characters_are_named() -> None:
    assert suspicious("ls -la\n\tx é 日") == ""
    assert [suspicious(f"a{char}") for char in "\x00\r\x7f\x9b\u00a0\u200b\u202e\u2028\ue000"] == [
        "U+0000",
        "U+000D",
        "U+007F",
        "U+009B",
        "U+00A0",
        "U+200B",
        "U+202E",
        "U+2028",
        "U+E000",
    ]
