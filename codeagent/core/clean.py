"""One function through which every string from outside passes before a screen sees it."""

from __future__ import annotations

import re
import unicodedata

_SUSPECT = re.compile(r"[^\n\t\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058e\u3000-\ud7ff]")
"""Anything that may be a control, format, surrogate or separator character; the rest is passed over fast."""

_BAD = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
_ZWJ = "\u200d"


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    if char == _ZWJ or unicodedata.category(char) not in _BAD:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean(text: str) -> str:
    """Text that cannot control a terminal: control, bidi and invisible characters become `\\x1b`, `\\u202e`.

    Line ends become LF; tabs stay. Category by category (Unicode Cc, Cf but for the zero width
    joiner, Cs, Zl, Zp, unassigned), so that no list of sequences can be incomplete.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _SUSPECT.sub(_visible, text)


def clean_line(text: str) -> str:
    """The same on one line: line ends show as a visible mark, tabs become blanks."""
    return clean(text).replace("\n", "⏎").replace("\t", "    ")
