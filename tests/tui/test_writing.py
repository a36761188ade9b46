"""What the composer is made of: history, pastes, completion, the typing guard."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.fronts.tui import completion
from codeagent.fronts.tui.guard import Guard
from codeagent.fronts.tui.history import History
from codeagent.fronts.tui.pastes import TOKEN, Pastes

PATHS = ["shop/cart.py", "tests/test_cart.py", "README.md", "shop/__init__.py", "docs/carting.md"]


def test_history_goes_back_and_forth_and_keeps_the_draft() -> None:
    past = History()
    past.add("one")
    past.add("two")
    assert [past.older("draft"), past.older("two"), past.older("one")] == ["two", "one", None]
    assert [past.newer(), past.newer(), past.newer()] == ["two", "draft", None]


def test_history_is_kept_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    History(path).add("two\nlines")
    path.write_bytes(path.read_bytes() + b"{broken\n")
    other = History(path)
    other.add("three")
    other.add("three")
    assert path.read_bytes() == b'"two\\nlines"\n{broken\n"three"\n'
    assert History(path).older("") == "three"


def test_history_that_cannot_be_written_does_not_hinder(tmp_path: Path) -> None:
    past = History(tmp_path)
    past.add("one")
    assert past.older("") == "one"


def test_what_was_written_before_the_file_was_known_comes_last(tmp_path: Path) -> None:
    path = tmp_path / "h"
    History(path).add("old")
    past = History()
    past.add("new")
    past.use(path)
    assert [past.older(""), past.older("new")] == ["new", "old"]


def test_a_short_paste_stays() -> None:
    assert Pastes().take("a\r\nb\rc") == "a\nb\nc"


@given(st.lists(st.text("ab \n", min_size=1001, max_size=1100), min_size=1, max_size=3))
def test_long_pastes_come_back_whole(texts: list[str]) -> None:
    pastes = Pastes()
    tokens = [pastes.take(text) for text in texts]
    assert all(TOKEN.fullmatch(token) for token in tokens)
    assert pastes.expand(" and ".join(tokens)) == " and ".join(texts)


def test_a_token_that_was_typed_stays_what_it_is() -> None:
    assert Pastes().expand("[Pasted #7 +3 lines]") == "[Pasted #7 +3 lines]"


def test_a_paste_cannot_control_the_terminal() -> None:
    assert Pastes().take("\x1b[2J") == "\\x1b[2J"


@pytest.mark.parametrize(
    ("before", "wanted"), [("see @sh", "sh"), ("@", ""), ("a@b", None), ("see @a b", None), ("(see) @x/y.py", "x/y.py")]
)
def test_mentions(before: str, wanted: str | None) -> None:
    assert completion.mention(before) == wanted


@pytest.mark.parametrize(
    ("query", "first"),
    [("cart", "shop/cart.py"), ("tcart", "tests/test_cart.py"), ("read", "README.md"), ("shop/", "shop/cart.py")],
)
def test_the_best_file_comes_first(query: str, first: str) -> None:
    assert completion.fitting(query, PATHS)[0] == first


def test_letters_out_of_order_do_not_fit() -> None:
    assert completion.fitting("zq", PATHS) == []
    assert len(completion.fitting("", [f"f{i}" for i in range(50)])) == completion.MOST


@given(st.text("abc/", max_size=3), st.lists(st.text("abc/", min_size=1, max_size=6), max_size=30, unique=True))
def test_the_best_are_those_that_scoring_all_would_give(query: str, paths: list[str]) -> None:
    scored = sorted((points, path) for path in paths if (points := completion.score(query, path)) is not None)
    if query:
        assert completion.fitting(query, paths) == [path for _, path in scored[: completion.MOST]]


def guard_shown(now: float, last_key: float) -> Guard:
    guard = Guard()
    assert not guard.takes(now)
    guard.shown(now, last_key)
    return guard


def test_a_dialog_takes_nothing_at_first() -> None:
    guard = guard_shown(100.0, 0.0)
    assert not guard.takes(100.39)
    assert not guard.takes(101.38), "that key made it wait for a pause"
    assert guard.takes(102.39)


def test_a_dialog_takes_keys_after_its_quiet_time() -> None:
    assert guard_shown(100.0, 99.4).takes(100.41)


def test_a_dialog_waits_for_someone_who_was_typing() -> None:
    assert not guard_shown(100.0, 99.7).takes(100.65)
    assert guard_shown(100.0, 99.7).takes(100.71)


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=20))
def test_a_dialog_never_takes_a_key_while_keys_keep_coming(gaps: list[float]) -> None:
    guard, now = guard_shown(100.0, 99.9), 100.0
    assert not guard.takes(now)
    for gap in gaps:
        now += gap
        assert not guard.takes(now)
