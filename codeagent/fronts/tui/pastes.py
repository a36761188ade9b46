"""Long pastes stand as one short token in the composer and are whole again when they are sent."""

from __future__ import annotations

import re

from codeagent.core.clean import clean

LINES = 15
CHARACTERS = 1000
"""A paste with more lines or characters than these becomes a token."""

TOKEN = re.compile(r"\[Pasted #(\d+) \+\d+ lines?\]")


class Pastes:
    """The pastes of one composer, by number."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def take(self, text: str) -> str:
        """What to insert for a pasted text: itself, cleaned, or a token for it."""
        text = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        lines = text.count("\n") + 1
        if lines <= LINES and len(text) <= CHARACTERS:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        return f"[Pasted #{number} +{lines} line{'' if lines == 1 else 's'}]"

    def expand(self, text: str) -> str:
        """The text with every token replaced by what it stands for."""
        return TOKEN.sub(lambda match: self._texts.get(int(match[1]), match[0]), text)
