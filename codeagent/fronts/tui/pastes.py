"""Long pastes and pictures stand as one short token in the composer and are whole again when they are sent."""

from __future__ import annotations

import re

from codeagent.core.clean import clean
from codeagent.core.messages import Image

LINES = 15
CHARACTERS = 1000
"""A paste with more lines or characters than these becomes a token."""

TOKEN = re.compile(r"\[(?:Pasted #(\d+) \+\d+ lines?|Image #(\d+))\]")


class Pastes:
    """The pastes of one composer, by number."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._pictures: dict[int, Image] = {}

    def take(self, text: str) -> str:
        """What to insert for a pasted text: itself, cleaned, or a token for it."""
        text = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        lines = text.count("\n") + 1
        if lines <= LINES and len(text) <= CHARACTERS:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        return f"[Pasted #{number} +{lines} line{'' if lines == 1 else 's'}]"

    def attach(self, picture: Image) -> str:
        """What to insert for a picture."""
        number = len(self._pictures) + 1
        self._pictures[number] = picture
        return f"[Image #{number}]"

    def pictures(self, text: str) -> tuple[Image, ...]:
        """The pictures whose tokens stand in the text, in order."""
        numbers = [int(match[2]) for match in TOKEN.finditer(text) if match[2]]
        return tuple(self._pictures[number] for number in numbers if number in self._pictures)

    def expand(self, text: str) -> str:
        """The text with every paste's token replaced by what it stands for; those of pictures stay, as names."""
        return TOKEN.sub(lambda match: self._texts.get(int(match[1]), match[0]) if match[1] else match[0], text)
