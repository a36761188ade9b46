"""The todo list above the composer: what it shows while something works, and at rest."""

from __future__ import annotations

from textual.app import App

from codeagent.core.views import Todo, TodoItem
from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.widgets.panels import TodoPanel

LIST = Todo((TodoItem("read", "completed"), TodoItem("test"), TodoItem("mend", "in_progress")))


async def test_the_list_is_one_quiet_line_at_rest() -> None:
    panel = TodoPanel(DARK, UNICODE, id="todo")

    def rows() -> list[str]:
        return [row.plain for row in panel._rows]

    app: App[None] = App()
    async with app.run_test(size=(60, 20)):
        await app.mount(panel)
        panel.update(LIST)
        assert rows() == [" ✓ 1 of 3 done", " » mend", " · test"]
        panel.rest(at_rest=True)
        assert rows() == [" · 2 of 3 left to do: mend"]
        panel.rest(at_rest=False)
        assert len(rows()) == 3
        panel.update(Todo((TodoItem("read", "completed"),)))
        assert rows() == []
