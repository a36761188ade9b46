"""What one simple command may do: read only, build and test, or anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codeagent.core.effects import Risk, Touch
from codeagent.shell.builds import builds_or_tests
from codeagent.shell.git_words import GIT
from codeagent.shell.options import sort_words
from codeagent.shell.programs import READERS, VERSION_FORMS, VERSIONED, Program
from codeagent.shell.special import SPECIAL, Doubt, Words
from codeagent.shell.wrappers import TRANSPARENT, unwrap

Judge = Callable[[str], Touch]
"""Judges a path that a command reads, as the shell would resolve it."""


class Finding(NamedTuple):
    """`why` says in a few words what stands against reading only; empty when nothing does."""

    why: str
    risk: Risk
    touches: tuple[Touch, ...] = ()

    @property
    def readonly(self) -> bool:
        return not self.why


def classify(words: Words, judge: Judge, git_inert: Callable[[], bool]) -> Finding:
    """Judge a command whose words are all known. Paths go through `judge`; nothing is run or opened."""
    try:
        paths = _paths_read(words, git_inert)
    except Doubt as doubt:
        return Finding(str(doubt), _risk(words, judge))
    touches = tuple(judge(path) for path in paths)
    outside = next((touch for touch in touches if touch.place != "inside"), None)
    if outside is None:
        return Finding("", Risk.LOW, touches)
    named = paths[touches.index(outside)] or "an empty path"
    return Finding(f"{named} {outside.why or 'lies outside the project'}", Risk.HIGH, touches)


def _risk(words: Words, judge: Judge) -> Risk:
    """MEDIUM for what only builds or tests, with every word that could be a path inside."""
    inner = unwrap(words) if words[0] in TRANSPARENT else ()
    if inner:
        return _risk(inner, judge)
    if not builds_or_tests(words):
        return Risk.HIGH
    inside = all(judge(path).place == "inside" for word in words[1:] for path in _possible_paths(word))
    return Risk.MEDIUM if inside else Risk.HIGH


def _possible_paths(word: str) -> list[str]:
    """What in a word of a build may be a path: `x::test`, `--rootdir=x`, `-C/x`, `OUT=x`."""
    whole = "" if word.startswith("-") else word.split("::", maxsplit=1)[0]
    glued = word[2:] if word.startswith("-") and not word.startswith("--") and "/" in word else ""
    return [path for path in (whole, glued, word.partition("=")[2]) if path]


def _paths_read(words: Words, git_inert: Callable[[], bool]) -> Words:
    """The paths that a read-only command names. Raises Doubt when it is not provably one."""
    name, rest = words[0], words[1:]
    if (rest == ("--version",) and (name in VERSIONED or name in READERS)) or words in VERSION_FORMS:
        return ()
    if name in TRANSPARENT and (inner := _transparent(words)):
        return _paths_read(inner, git_inert)
    if name == "git":
        return _git(rest, git_inert)
    if name in SPECIAL:
        return SPECIAL[name](rest)
    if name in READERS:
        return _reader(name, READERS[name], rest)
    if "/" in name:
        raise Doubt(f"{name} is a file that would be run")
    raise Doubt(f"{name or 'an empty name'} is not on the list of read-only commands")


_PLAIN_OPTIONS = {"timeout": r"\d+(\.\d+)?[smhd]?", "nice": r"-n -?\d+", "command": r"", "builtin": r""}
"""Options of the transparent wrappers that change nothing of what is run."""


def _transparent(words: Words) -> Words:
    """The command inside, or () for `command -v x`; raises Doubt when the wrapper's own options are not plain."""
    name, rest = words[0], words[1:]
    if name == "command" and rest[:1] in {("-v",), ("-V",)}:
        return ()
    inner = unwrap(words)
    head = " ".join(rest[: len(rest) - len(inner)])
    if not inner or (head and not re.fullmatch(_PLAIN_OPTIONS[name], head)):
        raise Doubt(f"the options of {name} are not known to be harmless")
    if inner[0] == "cd":
        raise Doubt(f"cd behind {name} is not followed")
    return inner


def _reader(name: str, program: Program, rest: Words) -> Words:
    if program.operands == "any":
        return ()
    parsed = sort_words(program.known, rest)
    if parsed.why:
        raise Doubt(parsed.why)
    operands = parsed.operands
    if len(operands) > program.most or (program.operands == "none" and operands):
        raise Doubt(f"{name} with that many operands may write")
    if program.operands == "numbers" and not all(re.fullmatch(r"[-+]?\d+(\.\d+)?[smhd]?", word) for word in operands):
        raise Doubt(f"{name} is only known with plain numbers")
    if program.operands == "pattern" and not program.instead & parsed.given:
        if not operands:
            raise Doubt(f"{name} has no pattern")
        operands = operands[1:]
    if program.operands not in {"paths", "pattern"}:
        return ()
    if name == "strings" and any(path.startswith("@") for path in operands):
        raise Doubt("strings @file takes more words from that file")
    return tuple(path for path in operands if path != "-")


def _git(rest: Words, git_inert: Callable[[], bool]) -> Words:
    while rest[:1] in {("--no-pager",), ("-P",)}:
        rest = rest[1:]
    verb = rest[0] if rest else ""
    reading = GIT.get(verb)
    if reading is None:
        raise Doubt(f"git {verb}".rstrip() + " is not on the list of read-only commands")
    if any("%G" in word or "signature" in word for word in rest):
        raise Doubt("a format that checks signatures runs another program")
    before, dashes, after = _divide(rest[1:])
    parsed = sort_words(reading.known, before)
    if parsed.why:
        raise Doubt(parsed.why)
    operands = parsed.operands
    named = bool(reading.needs & parsed.given)
    if len(operands) > reading.most or (reading.needs and (dashes or not (named or (reading.bare and not operands)))):
        raise Doubt(f"git {verb} with these words may write")
    if reading.first and (operands[0] not in reading.first if operands else not reading.bare):
        raise Doubt(f"git {verb} is only read-only as {' or '.join(sorted(reading.first))}")
    if not git_inert():
        raise Doubt("the repository's git configuration may name programs to run")
    # `HEAD:secret/file` names a path, and two paths outside make `git diff` compare plain files.
    return tuple(piece for word in (*operands, *after) for piece in (word, word.rpartition(":")[2]) if piece)


def _divide(words: Words) -> tuple[Words, bool, Words]:
    """The words before `--`, whether there is one, and the words behind it."""
    if "--" not in words:
        return words, False, ()
    at = words.index("--")
    return words[:at], True, words[at + 1 :]
