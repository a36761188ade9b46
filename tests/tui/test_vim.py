"""Vim's keys, on a draft of plain text and in the composer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.fronts.tui.vim import Vim
from tests.tui.desk import seated, until


class Paper:
    """A draft without a screen."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.at = text, at
        self.before: list[tuple[str, int]] = []

    def place(self) -> tuple[str, int]:
        return self.text, self.at

    def change(self, text: str, at: int) -> None:
        if text != self.text:
            self.before.append((self.text, self.at))
        self.text, self.at = text, at

    def undo(self) -> None:
        if self.before:
            self.text, self.at = self.before.pop()


def typed(keys: str, text: str, at: int = 0) -> Paper:
    """What keys in normal mode make of a text."""
    paper, vim = Paper(text, at), Vim()
    vim.normal = True
    for key in keys:
        vim.key(key, paper)
    return paper


@pytest.mark.parametrize(
    ("keys", "text", "at", "result"),
    [
        ("x", "abc", 1, ("ac", 1)),
        ("2x", "abc", 0, ("c", 0)),
        ("dw", "one two", 0, ("two", 0)),
        ("cw", "one two", 0, (" two", 0)),
        ("de", "one two", 4, ("one ", 4)),
        ("db", "one two", 4, ("two", 0)),
        ("D", "one two", 3, ("one", 3)),
        ("dd", "a\nb\nc", 2, ("a\nc", 2)),
        ("dd", "a\nb", 2, ("a", 1)),
        ("dj", "a\nb\nc", 0, ("c", 0)),
        ("cc", "a\nbc", 3, ("a\n", 2)),
        ("yyp", "a\nb", 0, ("a\na\nb", 2)),
        ("ddP", "a\nb", 0, ("a\nb", 0)),
        ("ywP", "one two", 0, ("one one two", 3)),
        ("o", "a\nb", 0, ("a\n\nb", 2)),
        ("O", "a\nb", 2, ("a\n\nb", 2)),
        ("A", "abc", 0, ("abc", 3)),
        ("I", "  abc", 4, ("  abc", 2)),
        ("$", "abc\nd", 0, ("abc\nd", 3)),
        ("gg", "a\nb", 2, ("a\nb", 0)),
        ("j", "abc\nd", 2, ("abc\nd", 5)),
        ("xu", "abc", 0, ("abc", 0)),
        ("dq", "abc", 0, ("abc", 0)),
    ],
)
def test_keys(keys: str, text: str, at: int, result: tuple[str, int]) -> None:
    paper = typed(keys, text, at)
    assert paper.place() == result


@given(st.text("abdceghijklowxpPuGD$0^ydc2\n ", max_size=30), st.text("ab \n", max_size=20), st.data())
def test_no_keys_lead_out_of_the_text(keys: str, text: str, data: st.DataObject) -> None:
    paper = typed(keys, text, data.draw(st.integers(0, len(text))))
    assert 0 <= paper.at <= len(paper.text)


async def test_in_the_composer_esc_leads_to_normal_mode_and_enter_sends() -> None:
    app = seated(settings={"vim": True})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.composer.vim)
        await pilot.press(*"fix it", "escape", *"0dw")
        assert app.composer.text == "it"
        await pilot.press("A", *" now", "escape", "u")
        assert app.composer.vim.normal
        await pilot.press("enter")
        await until(pilot, lambda: app.composer.text == "")
