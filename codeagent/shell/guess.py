"""What an unknown word may become when bash expands it. Used only to refuse, never to allow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

_MOST = 64
"""Alternatives of one word that are looked at."""

_DEEPEST = 50
"""Substitutions inside substitutions that are replaced, innermost first."""

_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'")
_ESCAPE = re.compile(r"\\(?:[xuU]([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\(([^()`]*)\)|`([^`]*)`")
_NAMED = re.compile(r"\$(\w+|[@*#?!$-])|\$\{!?#?(\w+|[@*])([^}]*)\}")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_PRINTS = re.compile(r"^\s*(?:echo|printf)\s+(.*?)\s*$", re.DOTALL)


def expansions(raw: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words that `raw` may stand for, given what variables are known to hold; unknown ones are empty."""
    text = _ANSI.sub(_unescape, raw)
    for _ in range(_DEEPEST):
        text, found = _SUBSTITUTION.subn(
            lambda match: _printed(match.group(1) or match.group(2) or "", variables), text
        )
        if not found:
            break
    text = _NAMED.sub(lambda match: _value(match, variables), text)
    words = _split(text)
    return tuple(word for piece in words for word in _braces(piece))[:_MOST]


def _unescape(match: re.Match[str]) -> str:
    """`$'\\x72m'` is `'rm'`: quoted again, for it may hold blanks."""
    return "'" + _ESCAPE.sub(_character, match.group(1)).replace("'", "'\\''") + "'"


def _character(match: re.Match[str]) -> str:
    hexadecimal, octal, other = match.groups()
    code = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else -1
    if 0 < code < 0x110000:
        return chr(code)
    return {"n": "\n", "t": "\t"}.get(other or "", other or "")


def _printed(command: str, variables: Mapping[str, str]) -> str:
    """What a substitution prints, for the few that are used to name a directory."""
    words = command.split()
    if words[:1] == ["pwd"]:
        return variables.get("PWD", "")
    if words == ["git", "rev-parse", "--show-toplevel"]:
        return variables.get("PWD", "")
    told = _PRINTS.match(command)
    return told.group(1) if told else ""


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    name = match.group(1) or match.group(2)
    if name == "IFS":
        return " "
    if name in variables:
        return variables[name]
    tail = match.group(3) or ""
    fallback = re.match(r":?[-=+](.*)", tail, re.DOTALL)
    return fallback.group(1) if fallback else ""


def _split(text: str) -> list[str]:
    """Quote removal and splitting at unquoted blanks; an open quote runs to the end."""
    words: list[str] = []
    current: list[str] | None = None
    quoted = ""
    at = 0
    while at < len(text):
        char = text[at]
        if char == quoted:
            quoted = ""
        elif quoted != "'" and char == "\\" and at + 1 < len(text):
            at += 1
            current = [*(current or []), text[at]]
        elif not quoted and char in "'\"":
            quoted = char
            current = current or []
        elif not quoted and char in " \t\n":
            if current is not None:
                words.append("".join(current))
            current = None
        else:
            current = current or []
            current.append(char)
        at += 1
    if current is not None:
        words.append("".join(current))
    return words


def _braces(word: str) -> list[str]:
    """`{a,b}c` becomes `ac` and `bc`, for a few levels."""
    parts = _BRACES.split(word)
    if len(parts) == 1 or len(parts) > 7:
        return [word]
    choices = [part.split(",") if odd % 2 else [part] for odd, part in enumerate(parts)]
    made = ["".join(choice) for choice in product(*choices)][:_MOST]
    return [done for part in made for done in (_braces(part) if _BRACES.search(part) else [part])][:_MOST]
