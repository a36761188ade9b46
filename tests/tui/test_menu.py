"""Lists: what is told about each row stands in one column."""

from __future__ import annotations

import pytest
from textual.app import App

from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.widgets.menu import Item, Menu

ITEMS = (Item("short", "DETAIL"), Item("a label of forty-one cells, more than most", "DETAIL"), Item("alone"))


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_details_stand_under_each_other_and_all_labels_are_told(width: int) -> None:
    menu = Menu(DARK, UNICODE, ITEMS, id="menu")
    app: App[None] = App()
    async with app.run_test(size=(width, 10)) as pilot:
        await app.mount(menu)
        await pilot.pause()
        rows = [menu.render_line(y).text for y in range(3)]
    places = {row.index("DETAIL") for row in rows[:2]}
    assert len(places) == 1
    if width >= 80:
        assert "more than most" in rows[1]
