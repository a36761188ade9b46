"""Choose one of many: a list that typing narrows down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from codeagent.core.clean import clean_line
from codeagent.fronts import present
from codeagent.fronts.desk import Listed
from codeagent.fronts.tui.screens.dialog import Dialog
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.widgets.menu import Item


class Pick(Dialog[str | None]):
    """Dismissed with the value of the chosen row, or None. `rows` are (value, item)."""

    GUARDED = False

    def __init__(self, title: str, rows: Sequence[tuple[str, Item]], stage: Stage) -> None:
        self._title = title
        self._rows = list(rows)
        self._typed = ""
        self.preview: Callable[[str], None] | None = None
        """Told the value of each row that gets the highlight."""
        super().__init__(stage)

    def title_words(self) -> tuple[str, str]:
        return f"{self._title}: {self._typed}" if self._typed else self._title, ""

    def start(self, value: str) -> None:
        """Put the highlight on this row at first."""
        at = next((i for i, row in enumerate(self._rows) if row[0] == value), 0)
        self.call_after_refresh(lambda: self.menu.choose(at))

    def items(self) -> tuple[Item, ...]:
        return tuple(item for _, item in self._fitting())

    def hints(self, wide: bool) -> str:
        return "enter choose   type to narrow down   esc back"

    def choose(self, index: int) -> None:
        fitting = self._fitting()
        if fitting:
            self.dismiss(fitting[index][0])

    def decline(self) -> None:
        self.dismiss(None)

    def key(self, key: str) -> bool:
        if key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "space":
            self._typed += " "
        elif len(key) == 1:
            self._typed += key
        elif key in ("up", "down") and self.preview:
            self.menu.move(-1 if key == "up" else 1)
            self._show_chosen()
            return True
        elif key in ("pageup", "pagedown"):
            step = max(1, self.menu.size.height - 1)
            end = len(self.menu.items) - 1
            self.menu.choose(max(0, min(end, self.menu.chosen + (step if key == "pagedown" else -step))))
            return True
        else:
            return False
        self.menu.fill(self.items())
        self.dress()
        self._show_chosen()
        return True

    def _show_chosen(self) -> None:
        fitting = self._fitting()
        if self.preview and fitting:
            self.preview(fitting[self.menu.chosen][0])

    def _fitting(self) -> list[tuple[str, Item]]:
        words = self._typed.lower().split()
        return [row for row in self._rows if all(w in f"{row[1].label} {row[1].detail}".lower() for w in words)]


def session_rows(sessions: Sequence[Listed], now: float | None = None) -> list[tuple[str, Item]]:
    """Sessions as rows of a Pick: name first, then when, branch, turns and cost."""
    now = time.time() if now is None else now
    rows = []
    for session in sessions:
        about = [present.age(session.when, now), session.branch]
        about += [present.count(session.turns, "turn")] if session.turns else []
        about += [present.money(session.cost)] if session.cost else []
        rows.append((session.id, Item(clean_line(session.title) or "(no name)", "  ".join(filter(None, about)))))
    return rows
