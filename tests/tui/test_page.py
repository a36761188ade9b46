"""Rows are drawn late and kept long, and are always the rows that drawing everything would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeagent.fronts.tui.page import Page
from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.pieces import Block
from codeagent.fronts.tui.render import Painter

WIDE, NARROW = Painter(DARK, UNICODE, 60), Painter(DARK, UNICODE, 30)


def blocks(count: int) -> list[Block]:
    return [Block("notice", f"block {i} " + "word " * (i % 7 * 4), gap=i > 0) for i in range(count)]


def rows(page: Page) -> list[str]:
    return [page.row(i).text.rstrip() for i in range(page.total)]


def whole(drawn: list[Block], painter: Painter) -> list[str]:
    return [strip.text.rstrip() for block in drawn for strip in painter.draw(block)]


@given(st.integers(0, 30), st.lists(st.integers(1, 20), max_size=8))
def test_loading_bit_by_bit_gives_the_end_of_the_whole(count: int, loads: list[int]) -> None:
    made = blocks(count)
    page = Page(made, WIDE)
    for wanted in loads:
        before = page.total
        assert page.load(wanted) == page.total - before
    assert rows(page) == whole(made[page.first :], WIDE)
    assert [page.start(i) for i in range(page.first, count)] == sorted(page.start(i) for i in range(page.first, count))


@given(st.integers(1, 20), st.data())
def test_changes_are_drawn_and_the_rest_stays_the_same_object(count: int, data: st.DataObject) -> None:
    made = blocks(count)
    page = Page(made, WIDE)
    page.load(1 << 20)
    before = [page.row(i) for i in range(page.total)]
    at = data.draw(st.integers(0, count - 1))
    made[at].text += " and more words"
    made[at].version += 1
    made.append(Block("notice", "a new one"))
    differs = page.update(at)
    assert rows(page) == whole(made, WIDE)
    assert all(page.row(i) is before[i] for i in range(differs))
    assert differs >= page.start(at)


def test_blocks_that_are_gone_are_forgotten() -> None:
    made = blocks(5)
    page = Page(made, WIDE)
    page.load(1 << 20)
    del made[3:]
    page.update(3)
    assert rows(page) == whole(made, WIDE)


@given(st.integers(1, 25), st.data())
def test_another_width_draws_only_what_comes_into_view(count: int, data: st.DataObject) -> None:
    made = blocks(count)
    page = Page(made, WIDE)
    page.load(1 << 20)
    row = data.draw(st.integers(0, page.total - 1))
    top = page.block_at(row)
    page.repaint(NARROW, row)
    assert page.first == top
    page.freshen(0, 10)
    assert rows(page)[:10] == whole(made[top:], NARROW)[:10]
    for y in range(0, 400, 5):
        page.freshen(y, 10)
    page.load(1 << 20)
    assert rows(page) == whole(made, NARROW)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 200))
def test_what_is_let_go_comes_back_as_it_was(count: int, loaded: int, most: int) -> None:
    made = blocks(count)
    page = Page(made, WIDE)
    page.load(loaded)
    before = rows(page)
    went = page.trim(most)
    assert went == (len(before) > page.total)
    assert page.total >= min(most, len(before))
    assert rows(page) == before[len(before) - page.total :]
    page.load(len(before))
    assert rows(page)[-len(before) :] == before
