"""What is said outside the screen: the terminal's title, a bell or a notice when nobody looks, the person's own status.

Everything goes through the driver; a terminal that does not know a sequence ignores it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from codeagent.core.clean import clean_line

if TYPE_CHECKING:
    from textual.timer import Timer

    from codeagent.fronts.desk import Desk
    from codeagent.fronts.tui.app import Codeagent

LONG = 10.0
"""Seconds after which the end of a turn is worth a notice."""
PAUSE = 0.3
"""Seconds without news before the person's status command runs."""

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class Manners:
    """Speaks through `write`, which is nothing while there is no terminal."""

    def __init__(self, app: Codeagent, write: Callable[[str], object]) -> None:
        self._app, self._write = app, write
        self._title = ""
        self._timer: Timer | None = None
        self._given: dict[str, Any] = {}

    def ring(self, words: str) -> None:
        """Ring, and show a notice where terminals can, if the person looks elsewhere."""
        desk = self._app.talk.desk
        how = str(desk.setting("notify")) if desk else "off"
        if self._app.app_focus or how == "off":
            return
        self._write("\a" if how == "bell" else f"\x1b]9;{clean_line(words)[:200]}\x07\a")

    def ended(self, seconds: float, words: str) -> None:
        """A turn has ended after so long."""
        if seconds >= LONG:
            self.ring(words)

    def title(self, desk: Desk, *, working: bool) -> None:
        """Project and session in the terminal's title; a star while it works."""
        name = clean_line(desk.agent.title)[:60]
        words = f"{'* ' if working else ''}{clean_line(desk.project.name)}{f': {name}' if name else ''}"
        if words != self._title:
            self._write(f"{'' if self._title else SAVE_TITLE}\x1b]2;{words}\x07")
            self._title = words

    def farewell(self) -> None:
        """Give the title back."""
        if self._title:
            self._write(RESTORE_TITLE)
            self._title = ""

    def status(self, desk: Desk, given: dict[str, Any]) -> None:
        """Run the person's status command once nothing has changed for a moment; its first line is shown."""
        command = str(desk.setting("statusLine"))
        if not command or given == self._given:
            return
        self._given = given
        if self._timer is not None:
            self._timer.stop()

        async def run() -> None:
            self._app.status.own(clean_line(await desk.status_words(command, given)))

        self._timer = self._app.set_timer(
            PAUSE, lambda: self._app.run_worker(run(), group="status", exclusive=True, exit_on_error=False)
        )
