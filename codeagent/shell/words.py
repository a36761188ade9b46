"""Quote removal as bash does it, and only where the result is certain."""

from __future__ import annotations

import re
import unicodedata

from codeagent.shell.options import listed

RESERVED = listed("! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while")
"""Words that are grammar, not programs, when they stand first and unquoted."""

_ENDS_WORD = frozenset(" \t\n|&;<>()`\"'")
_EXPANDS = frozenset("$*?[")
_LITERAL_DOLLAR = frozenset(" |)")
_BRACES = re.compile(r"[{][^}]*(?:,|\.\.)")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_WIDE_BLANKS = {"Zs"}


def suspicious(text: str) -> str:
    """The first character that hides or controls (`U+202E`), or "" when there is none.

    Blank, tab and newline are ordinary; every other control, format, separator or unassigned
    character is not: what a person sees would not be what bash runs.
    """
    for char in text:
        if " " <= char <= "~" or char in "\n\t":
            continue
        category = unicodedata.category(char)
        if category in _INVISIBLE or category in _WIDE_BLANKS:
            return f"U+{ord(char):04X}"
    return ""


def decode(raw: str) -> str | None:
    """The value of one raw bash word, or None where an expansion could change it.

    Reads quotes itself instead of trusting the grammar's pieces: two readers must agree before a
    word counts as known.
    """
    if raw in {"[", "[["}:
        return raw
    if raw.startswith(("~", "#")):
        return None
    out: list[str] = []
    bare: list[str] = []
    at = 0
    while at < len(raw):
        char = raw[at]
        if char == "'":
            end = raw.find("'", at + 1)
            if end < 0:
                return None
            out.append(raw[at + 1 : end])
            bare.append("q")
            at = end + 1
        elif char == '"':
            inner = _double_quoted(raw, at + 1)
            if inner is None:
                return None
            text, at = inner
            out.append(text)
            bare.append("q")
        elif char == "\\":
            if at + 1 >= len(raw) or raw[at + 1] == "\n":
                return None
            out.append(raw[at + 1])
            bare.append("q")
            at += 2
        elif char in _ENDS_WORD or char in _EXPANDS or (char == "~" and raw[at - 1] in "=:"):
            return None
        else:
            out.append(char)
            bare.append(char)
            at += 1
    return None if _BRACES.search("".join(bare)) else "".join(out)


def _double_quoted(raw: str, at: int) -> tuple[str, int] | None:
    """Text and position behind the closing quote, or None when something in it expands."""
    out: list[str] = []
    while at < len(raw):
        char = raw[at]
        if char == '"':
            return "".join(out), at + 1
        if char == "`":
            return None
        if char == "$" and raw[at + 1 : at + 2] not in _LITERAL_DOLLAR and raw[at + 1 :] != '"':
            return None
        if char == "\\" and at + 1 < len(raw):
            follower = raw[at + 1]
            if follower == "\n":
                return None
            out.append(follower if follower in '$`"\\' else char + follower)
            at += 2
            continue
        out.append(char)
        at += 1
    return None


def quote(word: str) -> str:
    """The word as it must be typed so that `decode` gives it back."""
    if re.fullmatch(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
