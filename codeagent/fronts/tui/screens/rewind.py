"""Go back to an earlier message: which one, then with what; what stands against it is shown before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.strip import Strip
from textual.widget import Widget

from codeagent.core.errors import CodeagentError
from codeagent.core.rewind import Point, Preview
from codeagent.fronts import going_back
from codeagent.fronts.going_back import Wish
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.screens.pick import Pick
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item
from codeagent.fronts.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from codeagent.fronts.tui.app import Codeagent


class Ways(Dialog[Wish | None]):
    """Dismissed with the wish, or None. Conflicts stand above the answers, which then say what they overwrite."""

    GUARDED = False

    def __init__(self, seen: Preview, project: Path, stage: Stage) -> None:
        self._seen, self._project = seen, project
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return f"Go back: {going_back.title(self._seen.point)}", ""

    def body(self) -> list[Widget]:
        return [Sheet(self._rows, id="body")]

    def items(self) -> tuple[Item, ...]:
        anyway = ", also what was changed since" if self._seen.conflicts else ""
        return (
            Item("Files and conversation" + anyway, key="1"),
            Item("Conversation only", "files stay as they are", key="2"),
            Item("Files only" + anyway, "the conversation goes on", key="3"),
        )

    def on_mount(self) -> None:
        super().on_mount()
        if self._seen.conflicts:
            self.menu.choose(1)

    def hints(self, wide: bool) -> str:
        return "esc back   what is put back can be undone: /rewind" if wide else "esc back"

    def choose(self, index: int) -> None:
        files, conversation = ((True, True), (False, True), (True, False))[index]
        self.dismiss(Wish(self._seen.point, files, conversation, anyway=files and bool(self._seen.conflicts)))

    def decline(self) -> None:
        self.dismiss(None)

    def _rows(self, width: int) -> list[Strip]:
        painter = Painter(self.stage.palette, self.stage.glyphs, width)
        return painter.plain(going_back.outlook(self._seen, self._project), "text", width)


def rows(points: Sequence[Point], project: Path) -> list[tuple[str, Item]]:
    """Points as rows of a Pick, the latest first; the value is the place in the journal."""
    return [
        (str(point.to), Item(going_back.title(point), going_back.changed(point.files, project) or "no file changed"))
        for point in reversed(points)
    ]


async def go(app: Codeagent) -> None:
    """From the list to the end. Runs in a worker, because it waits for the person."""
    desk = app.talk.desk
    if desk is None:
        return
    if app.talk.working:
        app.tell("That has to wait until it is done, or stop it first with Esc.", "warning")
        return
    points = await desk.agent.points()
    if not points:
        app.tell("Nothing was said yet: there is nothing to go back to.")
        return
    chosen = await app.push_screen_wait(Pick("Go back to before", rows(points, desk.project), app.stage()))
    if chosen is None:
        return
    try:
        wish = await app.push_screen_wait(Ways(await desk.agent.preview(int(chosen)), desk.project, app.stage()))
        if wish is not None:
            await going_back.go(desk, wish, app.composer.put)
            app.redraw()
    except CodeagentError as error:
        app.tell(str(error), "error")
