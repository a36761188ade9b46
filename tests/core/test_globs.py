"""Path patterns: the shell's meaning, in linear time."""

from __future__ import annotations

import fnmatch
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.globs import BadPattern, expand, matcher

NAMES = st.text(st.sampled_from("ab.-é"), min_size=1, max_size=6)
PATTERNS = st.text(st.sampled_from("ab.*?é"), min_size=1, max_size=6).filter(lambda p: p != "**")


@settings(max_examples=400, deadline=None)
@given(NAMES, PATTERNS)
def test_one_name_matches_as_fnmatch_says(name: str, pattern: str) -> None:
    assert bool(matcher(pattern)(name)) == fnmatch.fnmatchcase(name, pattern)


def slowly(path: list[str], pattern: list[str]) -> bool:
    """The plain meaning of `**`, segment by segment."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return slowly(path, pattern[1:]) or (bool(path) and slowly(path[1:], pattern))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and slowly(path[1:], pattern[1:])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
    st.lists(st.sampled_from(["a", "b", "*", "**", "?"]), min_size=1, max_size=5),
)
def test_double_stars_cross_folders(path: list[str], pattern: list[str]) -> None:
    expected = slowly(path, [*pattern, "*"] if pattern[-1] == "**" else pattern)
    assert bool(matcher("/".join(pattern))("/".join(path))) == expected


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/*a*/" * 15 + "b", "[a-z]*" * 20 + "!"])
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.monotonic()
    matcher(pattern)("a" * 3000)
    matcher(pattern)("a/" * 500 + "a")
    assert time.monotonic() - began < 6


def test_braces() -> None:
    assert expand("a{b,c{d,e}}f{1..3}{x}") == ["abf{1..3}{x}", "acdf{1..3}{x}", "acef{1..3}{x}"]
    with pytest.raises(BadPattern):
        expand("{a,b}" * 12)


@pytest.mark.parametrize("unit", ["a", "*", "a*", "[a]", "**/", "?", "{a,b}"])
def test_long_patterns_take_no_time(unit: str) -> None:
    began = time.perf_counter()
    for times in (2000, 200_000):
        with suppress(BadPattern):
            assert not matcher(unit * times + "b")("x" * 500)
    assert time.perf_counter() - began < 5
