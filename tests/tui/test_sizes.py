"""Long questions on a small screen: all of it can be read, and yes waits until it was."""

from __future__ import annotations

import re

import pytest

from codeagent.core.effects import Answer, AskPermission, AskTrust, Brought, Effect, Risk, Verdict
from codeagent.core.views import Diff, Hunk, Shell
from tests.tui.test_dialogs import asking

SMALL = (80, 24)
ASKED = Verdict("ask", "mode", "No rule covers it.")


def long_command(lines: int) -> AskPermission:
    text = "\n".join(f"echo line {number}" for number in range(1, lines + 1))
    effect = Effect("bash", "echo", "Run a long command", Risk.HIGH, Shell(text), cwd="/p")
    return AskPermission("u", effect, ASKED, {"command": text}, "for echo *", ("bash(echo *)",))


def long_change(lines: int) -> AskPermission:
    rows = tuple(f"+line {number}" for number in range(1, lines + 1))
    diff = Diff("a.py", (Hunk(1, 1, rows),), lines, 0)
    return AskPermission("u", Effect("edit", "a.py", "Edit a.py", Risk.MEDIUM, diff), ASKED, {"new_string": "x"})


def long_trust(items: int) -> AskTrust:
    brought = (Brought(f"/p/.agent/tools/t{i}.json", "tool", (f"add the tool t{i}",), "d") for i in range(1, items + 1))
    return AskTrust("/p", tuple(brought))


@pytest.mark.parametrize("keys", [("1",), ("2",), ("up", "up", "enter")])
async def test_a_command_of_300_lines_is_read_to_its_end_before_yes(keys: tuple[str, ...]) -> None:
    async with asking(long_command(300), SMALL) as dialog:
        assert all(words in dialog.text for words in ("echo line 1 ", "high risk", "1 Yes", "3 No, and say why"))
        await dialog.press(*keys)
        await dialog.pilot.pause()
        assert not dialog.worker.is_finished
        assert "read it to its end first" in dialog.text
        await dialog.press(*["pagedown"] * 26)
        assert "echo line 300" in dialog.text
        await dialog.press("1")
        assert await dialog.answered() == Answer("yes")


async def test_no_needs_no_reading() -> None:
    async with asking(long_command(300), SMALL) as dialog:
        await dialog.press("escape")
        assert await dialog.answered() == Answer("no")


async def test_every_line_of_a_long_command_can_be_seen() -> None:
    async with asking(long_command(100), SMALL) as dialog:
        seen: set[int] = set()
        for _ in range(10):
            seen |= {int(number) for number in re.findall(r"echo line (\d+) ", dialog.text)}
            await dialog.press("pagedown")
        assert seen == set(range(1, 101))


async def test_a_change_of_2000_lines_scrolls_and_its_answers_stay() -> None:
    async with asking(long_change(2000), SMALL) as dialog:
        assert all(words in dialog.text for words in ("Edit a.py?", "line 1", "1 Yes", "No, and say why"))
        await dialog.press("1", "enter")
        await dialog.pilot.pause()
        assert not dialog.worker.is_finished
        assert "read it to its end first" in dialog.text
        await dialog.press("end")
        await dialog.pilot.pause()
        assert "line 2000" in dialog.text
        assert "1 Yes" in dialog.text
        await dialog.press("1")
        assert await dialog.answered() == Answer("yes")


@pytest.mark.parametrize("size", [(40, 12), SMALL])
async def test_rows_below_the_edge_are_told_as_long_as_there_are_some(size: tuple[int, int]) -> None:
    async with asking(long_change(30), size) as dialog:
        await dialog.pilot.pause()
        told = re.search(r"(\d+) more rows: ", dialog.text)
        assert told
        shown = len(re.findall(r"\+ +line \d+", dialog.text))
        assert int(told[1]) == 30 - shown
        await dialog.press("end")
        await dialog.pilot.pause()
        assert "more row" not in dialog.text
        assert "esc no" in dialog.text


async def test_a_short_change_is_answered_at_once() -> None:
    async with asking(long_change(3), SMALL) as dialog:
        await dialog.pilot.pause()
        assert "more row" not in dialog.text
        await dialog.press("1")
        assert await dialog.answered() == Answer("yes")


async def test_a_wrapped_last_row_below_the_edge_of_a_small_screen_must_be_seen() -> None:
    rows = (" def total(self):", "-    return self.a * (1 - self.discount)", "+    return self.a_long_name.subtotal()")
    diff = Diff("a.py", (Hunk(1, 1, rows),), 1, 1)
    asked = AskPermission("u", Effect("edit", "a.py", "Edit a.py", Risk.MEDIUM, diff), ASKED, {"new_string": "x"})
    async with asking(asked, (40, 8)) as dialog:
        assert "more row" in dialog.text
        await dialog.press("1")
        await dialog.pilot.pause()
        assert not dialog.worker.is_finished
        await dialog.press("1")
        assert await dialog.answered() == Answer("yes")


async def test_the_reasons_stand_in_view_on_a_small_screen() -> None:
    async with asking(long_change(30), (40, 12)) as dialog:
        await dialog.press("w")
        assert "No rule covers it." in dialog.text


@pytest.mark.parametrize("size", [(40, 12), SMALL])
async def test_trust_is_read_to_its_end_and_stands_on_no(size: tuple[int, int]) -> None:
    async with asking(long_trust(30), size) as dialog:
        assert "Trust this directory?" in dialog.text
        await dialog.press("1")
        await dialog.pilot.pause()
        assert not dialog.worker.is_finished
        await dialog.press("end", "1")
        assert await dialog.answered() == Answer("yes")
    async with asking(long_trust(1), size) as dialog:
        await dialog.press("enter")
        assert await dialog.answered() == Answer("no")
