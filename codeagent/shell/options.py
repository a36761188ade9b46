"""Option allow-lists: a program's known harmless options, and the reading of words against them."""

from __future__ import annotations

import re
from typing import NamedTuple


def listed(names: str) -> frozenset[str]:
    """A set from names parted by blanks, which keeps the tables readable."""
    return frozenset(names.split())


class Options(NamedTuple):
    """Harmless options. What is not here, abbreviations included, makes the command ask.

    `flags` are letters without a value, `values` letters with one, never a path. `long` holds whole
    names. `digits` accepts `-20`.
    """

    flags: str = ""
    values: str = ""
    long: frozenset[str] = frozenset()
    long_values: frozenset[str] = frozenset()
    long_maybe: frozenset[str] = frozenset()
    digits: bool = False


class Parsed(NamedTuple):
    """Words of a command after its name, sorted. `why` is set when one of them is not known."""

    operands: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    why: str = ""


def options(flags: str = "", values: str = "", long: str = "", *, digits: bool = False) -> Options:
    """A table row. In `long`, `name` has no value, `name=` needs one, `name=?` may have one."""
    names = long.split()
    return Options(
        flags,
        values,
        frozenset(name for name in names if "=" not in name),
        frozenset(name[:-1] for name in names if name.endswith("=")),
        frozenset(name[:-2] for name in names if name.endswith("=?")),
        digits,
    )


def sort_words(known: Options, words: tuple[str, ...]) -> Parsed:
    """Part options from operands the way GNU programs do: options may follow operands, `--` ends them."""
    operands: list[str] = []
    given: set[str] = set()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands.extend(words[at:])
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        if known.digits and re.fullmatch(r"-\d+", word):
            continue
        took = _long(known, word, given) if word.startswith("--") else _short(known, word, given)
        if took is None or (took and at >= len(words)):
            return Parsed(why=f"the option {word} is not known to be harmless")
        at += 1 if took else 0
    return Parsed(tuple(operands), frozenset(given))


def _long(known: Options, word: str, given: set[str]) -> str | None:
    """Empty when the word stands alone, "value" when it takes the next one, None when it is unknown."""
    name, equals, _ = word[2:].partition("=")
    given.add("--" + name)
    if name in known.long_maybe or (name in known.long and not equals):
        return ""
    if name in known.long_values:
        return "" if equals else "value"
    return None


def _short(known: Options, word: str, given: set[str]) -> str | None:
    """The same for a cluster such as `-rn5`."""
    for at, letter in enumerate(word[1:], start=1):
        given.add("-" + letter)
        rest = word[at + 1 :]
        if letter in known.flags:
            continue
        if letter in known.values:
            return "" if rest else "value"
        return None
    return ""
