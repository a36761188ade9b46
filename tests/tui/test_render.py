"""Rows as a person sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.clean import clean
from codeagent.core.views import Diff, Hunk
from codeagent.fronts.tui import diffs
from codeagent.fronts.tui.code import highlight
from codeagent.fronts.tui.palette import ASCII, DARK, LIGHT, UNICODE, Palette
from codeagent.fronts.tui.pieces import Block, Call
from codeagent.fronts.tui.render import LEFT, MEASURE, Painter


def rows(block: Block, width: int = 60) -> list[str]:
    return [strip.text.rstrip() for strip in Painter(DARK, UNICODE, width).draw(block)]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_every_role_can_be_read_on_every_ground_it_stands_on(palette: Palette) -> None:
    syntax = ("text", "muted", "keyword", "string", "number", "name_")
    everywhere = (*syntax, "accent", "added", "removed", "warning", "danger")
    grounds = {
        "background": everywhere,
        "surface": everywhere,
        "chosen": ("text", "muted", "accent"),
        "added_ground": (*syntax, "added"),
        "removed_ground": (*syntax, "removed"),
        "added_word": ("text", "keyword", "string", "number", "name_"),
        "removed_word": ("text", "keyword", "string", "number", "name_"),
    }
    poor = {
        f"{role} on {ground}": round(contrast(getattr(palette, role), getattr(palette, ground)), 2)
        for ground, roles in grounds.items()
        for role in roles
        if contrast(getattr(palette, role), getattr(palette, ground)) < 4.5
    }
    assert poor == {}


def test_glyphs_are_one_cell_and_ascii_is_ascii() -> None:
    fields = [f for f in ASCII.__struct_fields__ if f != "spinner"]
    assert all(len(getattr(glyphs, f)) == 1 for glyphs in (UNICODE, ASCII) for f in fields)
    assert all(getattr(ASCII, f).isascii() for f in ASCII.__struct_fields__)


def test_markdown() -> None:
    shown = rows(
        Block("words", "## Head\n\nSee [docs](https://x.org/a).\n\n1. one\n2. two\n\n```py\nx = 1\n```", gap=False)
    )
    assert shown == ["   Head", "", "   See docs (https://x.org/a).", "", "    1 one", "    2 two", "", "     x = 1"]


def test_a_link_cannot_hide_where_it_leads() -> None:
    strips = Painter(DARK, UNICODE, 60).draw(Block("words", "[http://good.org](http://evil.org)"))
    assert "http://evil.org" in "".join(s.text for s in strips)
    assert all(segment.style is None or segment.style.link is None for strip in strips for segment in strip)


def test_code_keeps_its_rows_when_its_fence_closes() -> None:
    code = "```py\ndef f():\n\n    return '" + "x" * 120 + "'\n```"
    opened = rows(Block("words", code.removesuffix("\n```"), live=True, code=True, gap=False))
    assert opened == rows(Block("words", code, gap=False))


@given(st.integers(20, 130), st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=200))
def test_no_row_is_wider_than_the_screen(width: int, text: str) -> None:
    painter = Painter(DARK, UNICODE, width)
    call = Call("1", "bash", text, "finished", summary=text, output=text)
    blocks = [Block("said", text), Block("words", text), Block("notice", text), Block("thinking", text)]
    for block in [*blocks, Block("call", call=call, fold="open")]:
        for strip in painter.draw(block):
            assert strip.cell_length <= painter.width


def test_the_column_of_reading_has_a_measure() -> None:
    assert max(len(row) for row in rows(Block("words", "word " * 200), 200)) <= MEASURE


def test_outcomes_stand_under_each_other() -> None:
    calls = [
        Call("1", "grep", '"x"', "finished", summary="7 lines"),
        Call("2", "read", "a.py", "finished", summary="42"),
    ]
    assert len({len(rows(Block("call", call=c, gap=False))[0]) for c in calls}) == 1


def test_nothing_is_said_twice() -> None:
    timed = Call("1", "bash", "make", "finished", summary="exit 0  0.6 s", took_ms=600)
    assert rows(Block("call", call=timed, gap=False))[0].count("0.6 s") == 1
    todo = Call("1", "todo", "1 of 2 done", "finished", summary="1 of 2 done")
    assert rows(Block("call", call=todo, gap=False))[0].count("1 of 2") == 1


def test_a_long_object_gives_way_to_the_outcome() -> None:
    row = rows(Block("call", call=Call("1", "bash", "x" * 200, "finished", summary="3 failed"), gap=False))[0]
    assert row.endswith("…  3 failed")
    assert len(row) <= 60


def diff_rows(diff: Diff, width: int = 40) -> list[str]:
    return [text.plain for text in diffs.rows(diff, width, DARK, UNICODE)]


def test_a_diff_has_numbers_signs_and_full_grounds() -> None:
    diff = Diff("a.py", (Hunk(9, 9, (" a", "-b", "+c", "+d", " e")), Hunk(30, 31, (" z",))), 2, 1, omitted=4)
    assert [row.rstrip() for row in diff_rows(diff)] == [
        "     9    a",
        "    10  - b",
        "    10  + c",
        "    11  + d",
        "    12    e",
        "     …",
        "    31    z",
        "     …  4 more lines of this change",
    ]
    assert {len(row) for row in diff_rows(diff) if "-" in row or "+" in row} == {40}


def test_long_lines_of_a_diff_wrap_and_nothing_is_lost() -> None:
    line = "".join(chr(97 + i % 26) for i in range(75))
    shown = diff_rows(Diff("a.txt", (Hunk(1, 1, (f"+{line}",)),), 1, 0))
    assert "".join(row[diffs.GUTTER :] for row in shown).strip() == line


@given(st.text("ab c.", max_size=30), st.text("ab c.", max_size=30))
def test_what_is_not_marked_is_the_same(old: str, new: str) -> None:
    gone, come = diffs.changed_spans(old, new)
    if not gone and not come:
        return

    def rest(text: str, spans: list[tuple[int, int]]) -> str:
        return "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in spans))

    assert rest(old, gone) == rest(new, come)


@given(st.text(max_size=200))
def test_highlighting_keeps_every_line(code: str) -> None:
    code = clean(code)
    assert [line.plain for line in highlight(code, DARK, language="python")] == code.split("\n")


def test_the_gutter_is_three_cells() -> None:
    assert LEFT == 3
    assert rows(Block("words", "x", gap=False)) == ["   x"]


def test_output_ends_where_the_other_lines_end() -> None:
    call = Call("1", "bash", "make", "finished", output="x " * 200)
    for width in (60, 160):
        drawn = rows(Block("call", call=call, fold="open"), width)
        assert max(map(len, drawn)) <= min(MEASURE, width - 1)
