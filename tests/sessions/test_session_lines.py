"""Lines of the log: what goes in comes out, and a changed byte is noticed."""

import typing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.errors import SessionError
from codeagent.core.events import AssistantSaid, Earlier, Entry, Fact, Lost, Noted, UserSaid
from codeagent.core.messages import Text, ToolUse
from codeagent.sessions import codec
from codeagent.sessions.load import load
from tests.sessions.samples import AGENTS, CUT, ENTRIES

GOLDEN = Path(__file__).parent.parent / "golden"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def values(kind: object) -> st.SearchStrategy[object]:
    """Any value of an annotated type, as far as entries use types."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{name: values(hints[name]) for name in kind.__struct_fields__})
    if origin is tuple and inner[-1] is not Ellipsis:
        return st.tuples(*map(values, inner))
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
        return st.one_of(*map(values, inner))
    if origin is not None:
        return st.dictionaries(st.text(max_size=5), json_values, max_size=3)
    return {
        str: st.text(max_size=20),
        int: st.integers(-(2**60), 2**60),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }[kind]


KINDS = typing.get_args(Entry)


@settings(max_examples=150, deadline=None)
@given(entry=st.sampled_from(KINDS).flatmap(values), seq=st.integers(0, 10**9), at=st.integers(-(10**12), 10**14))
def test_every_entry_comes_back_as_it_was(entry, seq, at):
    line = codec.encode(seq, at, entry)
    assert line.count(b"\n") == 1
    read = codec.decode(line)
    assert (read.seq, read.at, read.entry) == (seq, at, entry)
    assert codec.encode(seq, at, read.entry) == line


@pytest.mark.parametrize(
    ("name", "entries"), [("session-v1", ENTRIES), ("session-v1-agents", AGENTS), ("session-v1-cut", CUT)]
)
def test_the_golden_logs_read_for_ever(name, entries):
    loaded = load(GOLDEN / f"{name}.jsonl")
    assert loaded.entries == list(entries)
    assert loaded.notices == ()


def test_the_golden_logs_hold_every_kind():
    assert {type(entry) for entry in (*ENTRIES, *AGENTS, *CUT)} == set(KINDS) - {Lost, Earlier}


def test_every_flipped_bit_of_a_line_is_noticed():
    line = codec.encode(12, 1764444444123, Noted("one word"))
    for place in range(len(line) - 1):
        for bit in range(8):
            broken = bytearray(line)
            broken[place] ^= 1 << bit
            with pytest.raises(ValueError, match=r"."):
                codec.decode(bytes(broken))


@pytest.mark.parametrize("words", ["a\ud800b é ☕", "\udfff", "caf\udce9.txt"])
def test_lone_surrogates_survive(words):
    entry = AssistantSaid((Text(words), ToolUse("t", "read", {"path": words})))
    assert codec.decode(codec.encode(0, 0, entry)).entry == entry


def test_an_unknown_kind_is_told_from_damage():
    body = b'{"kind":"dreamt","of":"sheep"}'
    head = b'{"seq":3,"at":0'
    line = b'%b,"crc":"%08x","e":%b}\n' % (head, codec.crc32(body, codec.crc32(head)), body)
    with pytest.raises(codec.Unknown, match="dreamt") as caught:
        codec.decode(line)
    assert caught.value.seq == 3


def test_input_nested_without_end_is_refused_with_words():
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SessionError, match="nested too deeply"):
        codec.encode(0, 0, AssistantSaid((ToolUse("t", "x", {"a": deep}),)))
    while isinstance(deep, list):  # taken apart by hand: the interpreter's own way is recursive
        deep = deep.pop()


def test_all_kinds_are_facts():
    assert all(issubclass(kind, Fact) for kind in KINDS)
    assert UserSaid in KINDS
