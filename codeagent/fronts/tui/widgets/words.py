"""The field of a dialog in which words are added to an answer, behind the sign for what a person says."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from codeagent.fronts.tui.palette import Glyphs


class Words(Horizontal):
    """A row with `#words`, the field itself, in it."""

    def __init__(self, glyphs: Glyphs, placeholder: str, *, password: bool = False) -> None:
        super().__init__(id="said")
        self._glyphs, self._placeholder, self._password = glyphs, placeholder, password

    def compose(self) -> ComposeResult:
        yield Static(f" {self._glyphs.you} ", id="saying", markup=False)
        yield Input(id="words", compact=True, placeholder=self._placeholder, password=self._password)
