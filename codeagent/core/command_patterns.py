"""Patterns over word lists: what `Bash(npm run test:*)` means, and how an exact command is written down."""

from __future__ import annotations

import re
from collections.abc import Iterable

_EDGE = "\x1f"
"""Stands between words; no command that can be allowed contains it."""

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_@%+=,./-][A-Za-z0-9_@%+=:,./-]*")


def exact(words: Iterable[str]) -> str:
    """The specifier that stands for these words and no others."""
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'" for word in words)


def compiled(specifier: str) -> re.Pattern[str]:
    """The specifier as a pattern over joined words. Unquoted `*` spans words; `:*` or ` *` at the end
    stands for any further words, none included. Linear to match, whatever the number of stars."""
    pieces = _trimmed(_pieces(specifier))
    tail = ""
    if pieces[-1:] == [("*", False)] and pieces[-2:-1] in ([(":", False)], [(" ", False)]):
        pieces, tail = _trimmed(pieces[:-2]), f"(?:{_EDGE}.*)?"
    first, *others = _between_stars(pieces)
    made = first + "".join(f"(?>.*?{text})" for text in others[:-1])
    return re.compile(made + (f".*?{others[-1]}" if others else "") + tail, re.DOTALL)


def joined(words: Iterable[str]) -> str:
    """Words as the text that `compiled` patterns look at."""
    return _EDGE.join(words)


def covers(pattern: re.Pattern[str], words: tuple[str, ...]) -> bool:
    """Does an allow pattern cover exactly this word list?"""
    return not any(_EDGE in word for word in words) and pattern.fullmatch(joined(words)) is not None


def catches(pattern: re.Pattern[str], words: tuple[str, ...]) -> bool:
    """Does a deny or ask pattern see this command, also when the words are parted in another way?"""
    if pattern.fullmatch(joined(words)):
        return True
    return pattern.fullmatch(joined(re.split(r"[\s\x1f]+", " ".join(words).strip()))) is not None


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Characters with whether they are quoted; an open quote is an ordinary character."""
    found: list[tuple[str, bool]] = []
    at = 0
    while at < len(text):
        char = text[at]
        end = text.find(char, at + 1) if char in "'\"" else -1
        if end > 0:
            inner = text[at + 1 : end]
            found.extend((letter, True) for letter in inner)
            found.extend([("", True)] if not inner else [])
            at = end + 1
        elif char == "\\" and at + 1 < len(text):
            found.append((text[at + 1], True))
            at += 2
        else:
            found.append((char, False))
            at += 1
    return found


def _trimmed(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Without unquoted blanks at either end."""
    kept = [at for at, piece in enumerate(pieces) if piece not in {(" ", False), ("\t", False)}]
    return pieces[kept[0] : kept[-1] + 1] if kept else []


def _between_stars(pieces: list[tuple[str, bool]]) -> list[str]:
    """Regular expressions of the texts between unquoted stars; a run of blanks is one edge between words."""
    found = [""]
    for char, quoted in pieces:
        if not quoted and char == "*":
            found.append("")
        elif not quoted and char in " \t":
            if not found[-1].endswith(_EDGE):
                found[-1] += _EDGE
        else:
            found[-1] += re.escape(char) or "(?:)"
    return found


def operators(text: str) -> str:
    """The first unquoted shell operator in a specifier, or "": no single command contains one."""
    return next((char for char, quoted in _pieces(text) if not quoted and char in "|&;<>\n`"), "")


def unquoted(text: str) -> str:
    """The characters of a specifier that stand outside of quotes."""
    return "".join(char for char, quoted in _pieces(text) if not quoted)
