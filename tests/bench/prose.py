"""What is streamed in the screen's measurements: 9.6 kB of mixed Markdown in 2,400 tokens of four characters."""

from __future__ import annotations

RATE = 200
"""Tokens a second."""
COUNT = 2400

_PART = (
    "The *discount* is taken twice: in `subtotal()` and again in `total()`.\n\n"
    "- one place computes it\n- the other trusts it\n\n"
    "```python\ndef total(self) -> int:\n    return self.subtotal()  # once\n```\n\n"
    "## What follows\n\nThe total must be computed in one place, and the tests have to say so.\n\n"
)
END = "ENDED"
"""The last word."""


def text(count: int = COUNT) -> str:
    """The whole reply."""
    size = 4 * count - len(END) - 2
    return (_PART * (size // len(_PART) + 1))[:size] + "\n\n" + END


def tokens(count: int = COUNT) -> list[str]:
    """The same in pieces of four characters."""
    whole = text(count)
    return [whole[at : at + 4] for at in range(0, len(whole), 4)]
