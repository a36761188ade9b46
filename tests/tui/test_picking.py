"""A change taken hunk by hunk in the dialog: marks, keys, clicks, and what is answered."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from codeagent.core.effects import Answer, AskPermission, Effect, Risk, Verdict
from codeagent.core.views import Diff, Hunk
from codeagent.fronts.tui.widgets.sheet import Sheet
from tests.tui.test_dialogs import asking

HUNKS = tuple(Hunk(10 * n, 10 * n, (" above", f"-old {n}", f"+new {n} {'wide ' * 12}end", " below")) for n in (1, 2, 3))


def change(risk: Risk = Risk.MEDIUM, hunks: tuple[Hunk, ...] = HUNKS) -> AskPermission:
    diff = Diff("a.py", hunks, len(hunks), len(hunks))
    effect = Effect("edit", "a.py", "Edit a.py", risk, diff, hunkwise=len(hunks) > 1)
    given = {"file_path": "a.py", "old_string": "old", "new_string": "new"}
    return AskPermission("1", effect, Verdict("ask", "mode", "Edits are asked for."), given, "edits in this session")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("h space 1", Answer("yes", hunks=(1, 2))),
        ("h down space enter", Answer("yes", hunks=(0, 2))),
        ("h up space down space enter", Answer("yes", hunks=(1,))),
        ("h space space enter", Answer("yes", hunks=(0, 1, 2))),
        ("h space down space down space enter", Answer("no")),
        ("h space 3 w h y enter", Answer("no", "why")),
        ("h space tab o k enter", Answer("yes", "ok", hunks=(1, 2))),
        ("h space escape 1", Answer("yes")),
        ("h space h escape 2", Answer("always")),
        ("h escape escape", Answer("no")),
    ],
)
async def test_the_answer_names_the_hunks_that_are_taken(keys: str, answer: Answer) -> None:
    async with asking(change()) as dialog:
        await dialog.press(*keys.split())
        assert await dialog.answered() == answer


async def test_what_is_taken_and_left_out_is_told() -> None:
    async with asking(change()) as dialog:
        assert "h hunks" in dialog.text
        await dialog.press("h")
        assert "Yes, all of it" in dialog.text
        assert "2 Yes, and" not in dialog.text
        await dialog.press("down", "space")
        assert "2 of 3  left out  line 21" in dialog.text
        assert "Yes, 2 of 3 hunks" in dialog.text
        await dialog.press("up", "space", "up", "space")
        assert "None of it, which is a no" in dialog.text


async def test_nothing_but_digits_and_enter_answers() -> None:
    async with asking(change()) as dialog:
        await dialog.press("h", *"yYaAjk249", "space", "left", "right")
        assert not dialog.worker.is_finished


async def test_for_high_risk_enter_still_means_no() -> None:
    async with asking(change(Risk.HIGH)) as dialog:
        await dialog.press("h", "space", "enter", "enter")
        assert await dialog.answered() == Answer("no")


async def test_keys_that_come_too_early_choose_nothing() -> None:
    async with asking(change(), armed=False) as dialog:
        await dialog.press("h", "space", "1")
        assert "left out" not in dialog.text
        assert dialog.app.composer.text == "h 1"


async def test_one_hunk_is_taken_or_not() -> None:
    async with asking(change(hunks=HUNKS[:1])) as dialog:
        assert "h hunks" not in dialog.text
        await dialog.press("h", "space")
        assert "Yes, all of it" not in dialog.text


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_the_hunk_that_keys_act_on_is_in_view(size: tuple[int, int]) -> None:
    tall = tuple(Hunk(100 * n, 100 * n, tuple(f"+line {n}.{m}" for m in range(30))) for n in (1, 2, 3))
    async with asking(change(hunks=tall), size) as dialog:
        await dialog.press("h", "down")
        assert "› [✓] 2 of 3" in dialog.text
        await dialog.press("down", "space")
        assert "› [ ] 3 of 3  left out" in dialog.text
        await dialog.press("end")
        assert "line 3.29" in dialog.text
        await dialog.press("up")
        assert "› [✓] 2 of 3" in dialog.text


async def test_a_click_takes_a_hunk_or_leaves_it_out() -> None:
    async with asking(change(), (60, 24)) as dialog:
        await dialog.pilot.click(Sheet, (5, 0))
        await dialog.press("h")
        assert "Yes, all of it" in dialog.text, "a click before the choice begins marks nothing"
        row = next(y for y, line in enumerate(dialog.text.split("\n")) if "2 of 3" in line)
        await dialog.pilot.click(None, (20, row + 2))
        assert "› [ ] 2 of 3  left out" in dialog.text
        await dialog.press("end", "1")
        assert await dialog.answered() == Answer("yes", hunks=(0, 2))


async def test_an_edit_takes_the_place_of_the_choice() -> None:
    async with asking(change()) as dialog:
        await dialog.press("h", "space", "e")
        dialog.app.screen.query_one(TextArea).text = "mine"
        await dialog.press("ctrl+s", "h")
        assert "h hunks" not in dialog.text
        await dialog.press("1")
        answer = await dialog.answered()
        assert answer.hunks is None
        assert answer.input is not None
        assert answer.input["new_string"] == "mine"
