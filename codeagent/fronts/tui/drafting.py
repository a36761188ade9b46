"""A call as the person rewrites it in a dialog: one text after the other, then the input that comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codeagent.fronts.rewriting import edited, texts

NAMES = {"command": "The command", "content": "The whole text", "new_string": "The new text"}
"""What the editor holds, by the field that it is from."""


class Draft:
    """`at` is the text that is being edited. What was written stays, so that it can be gone on with."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        found = texts(given)
        self._fields = [field for field, _ in found]
        self.texts = [text for _, text in found]
        self.at = 0

    def __bool__(self) -> bool:
        """Whether there is anything to rewrite."""
        return bool(self.texts)

    @property
    def name(self) -> str:
        """What is being edited: `The new text, 2 of 3`."""
        name = NAMES[self._fields[self.at].rpartition(".")[2]]
        return f"{name}, {self.at + 1} of {len(self.texts)}" if len(self.texts) > 1 else name

    @property
    def last(self) -> bool:
        """Whether no other text comes after this."""
        return self.at == len(self.texts) - 1

    @property
    def input(self) -> dict[str, Any] | None:
        """The input with all texts as they are now; None when they are as they came."""
        now = dict(self._given)
        for field, text in zip(self._fields, self.texts, strict=True):
            now = edited(now, field, text)
        return now if self.texts != [text for _, text in texts(self._given)] else None
