"""What the text behind a flag may be: each function takes it and gives the value, or raises in words for a person."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from pathlib import Path

from codeagent.core.modes import EFFORTS, MODES, mode_named


def whole(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def amount(text: str) -> float:
    """A number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e12:
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def mode(text: str) -> str:
    """A permission mode."""
    if not (name := mode_named(text)):
        raise ArgumentTypeError(f"{text!r} is no mode; modes are {', '.join(MODES)}")
    return name


def level(text: str) -> str:
    """A level of effort, or nothing."""
    if text and text not in EFFORTS:
        raise ArgumentTypeError(f"{text!r} is no level of effort; levels are {', '.join(EFFORTS)}")
    return text


def new_id(text: str) -> str:
    """The id of a session to be, or nothing."""
    if text and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", text):
        raise ArgumentTypeError(f"{text!r} is no id: it is made of letters, digits, dots, - and _, 100 at most")
    return text


def content(text: str) -> str:
    """What is in the file of this name."""
    try:
        return Path(text).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentTypeError(f"cannot read {text}: {error}") from None


def schema(text: str) -> str:
    """A JSON schema, given as text or as the name of a file."""
    from codeagent.answer_schema import schema_text

    try:
        return schema_text(text)
    except ValueError as fault:
        raise ArgumentTypeError(f"{fault}. Give a JSON schema, as text or in a file") from None
