"""Reading an answer out of words: laws."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.answer_schema import AnswerSchema

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ANYTHING = AnswerSchema("{}")


@given(JSON, st.sampled_from(("{}", " \n{}\n ", "Here it is:\n```json\n{}\n```\nThat is all.", "```\n{}\n```")))
def test_any_value_is_read_bare_or_fenced(value: Any, around: str) -> None:
    assert ANYTHING.read(around.replace("{}", json.dumps(value))) == value


@given(st.text())
def test_any_words_give_a_value_or_a_reason(words: str) -> None:
    reason = ""
    try:
        json.dumps(ANYTHING.read(words))
    except ValueError as fault:
        reason = str(fault) or "none"
    assert reason != "none"


@pytest.mark.parametrize("words", ["NaN", "-Infinity", "[1", "", "[" * 100_000, '{"a": 1} and more'])
def test_what_is_no_json_is_no_answer(words: str) -> None:
    with pytest.raises(ValueError, match="the answer is no JSON"):
        ANYTHING.read(words)


def test_of_several_fenced_blocks_the_last_counts() -> None:
    assert ANYTHING.read("First\n```json\n1\n```\nno:\n```json\n2\n```") == 2


def test_an_older_dialect_is_taken_by_its_name() -> None:
    old = AnswerSchema('{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}')
    assert old.read("2") == 2
    with pytest.raises(ValueError, match="less than or equal"):
        old.read("1")
