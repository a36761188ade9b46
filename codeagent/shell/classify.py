"""What one simple command may do: read only, build and test, or anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codeagent.core.effects import Risk, Touch
from codeagent.shell.builds import builds_or_tests
from codeagent.shell.git_words import GIT
from codeagent.shell.options import options, sort_words
from codeagent.shell.programs import FIND_TESTS, READERS, VERSION_FORMS, VERSIONED, Program
from codeagent.shell.wrappers import TRANSPARENT, unwrap

Judge = Callable[[str], Touch]
"""Judges a path that a command reads, as the shell would resolve it."""


class Verdict(NamedTuple):
    """`why` says in a few words what stands against reading only; empty when nothing does."""

    why: str
    risk: Risk
    touches: tuple[Touch, ...] = ()

    @property
    def readonly(self) -> bool:
        return not self.why


class _Doubt(Exception):
    """The command is not provably read-only; the message says why."""


def classify(words: tuple[str, ...], judge: Judge, git_inert: Callable[[], bool]) -> Verdict:
    """Judge a command whose words are all known. Paths go through `judge`; nothing is run or opened."""
    touched: list[Touch] = []

    def look(path: str) -> None:
        touch = judge(path)
        touched.append(touch)
        if touch.place != "inside":
            raise _Doubt(f"{path or 'an empty path'} {touch.why or 'lies outside the project'}")

    try:
        _read_only(words, look, git_inert)
    except _Doubt as doubt:
        risk = Risk.MEDIUM if _only_builds(words, judge) else Risk.HIGH
        return Verdict(str(doubt), risk, tuple(touched))
    return Verdict("", Risk.LOW, tuple(touched))


def _only_builds(words: tuple[str, ...], judge: Judge) -> bool:
    """MEDIUM needs every word that could be a path to lie inside."""
    inner = unwrap(words)
    if inner and words[0] in TRANSPARENT:
        return _only_builds(inner, judge)
    if not builds_or_tests(words):
        return False
    candidates = [word.partition("=")[2] if word.startswith("-") else word for word in words[1:]]
    return all(judge(word.split("::")[0]).place == "inside" for word in candidates if word)


def _read_only(words: tuple[str, ...], look: Callable[[str], None], git_inert: Callable[[], bool]) -> None:
    name, rest = words[0], words[1:]
    if (rest == ("--version",) and name in VERSIONED) or words in VERSION_FORMS:
        return
    if name in TRANSPARENT and (inner := _transparent(words)):
        _read_only(inner, look, git_inert)
        return
    special = _SPECIAL.get(name)
    if name == "git":
        _git(rest, look, git_inert)
    elif special:
        special(rest, look)
    elif name in READERS:
        if rest != ("--version",):
            _reader(name, READERS[name], rest, look)
    elif "/" in name:
        raise _Doubt(f"{name} is a file that would be run")
    else:
        raise _Doubt(f"{name or 'an empty name'} is not on the list of read-only commands")


def _transparent(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command inside, or () for `command -v x`; raises when the wrapper's own options are not plain."""
    name, rest = words[0], words[1:]
    if name == "command" and rest[:1] in {("-v",), ("-V",)}:
        return ()
    shapes = {"timeout": r"\d+(\.\d+)?[smhd]?", "nice": r"-n -?\d+ ", "command": "", "builtin": ""}
    shape = shapes[name]
    inner = unwrap(words)
    head = " ".join(rest[: len(rest) - len(inner)])
    if not inner or (head and not re.fullmatch(shape.strip(), head)):
        raise _Doubt(f"the options of {name} are not known to be harmless")
    return inner


def _reader(name: str, program: Program, rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if program.operands == "text" and name in {"echo", "true", "false", ":"}:
        return
    parsed = sort_words(program.known, rest)
    if parsed.why:
        raise _Doubt(parsed.why)
    operands = parsed.operands
    if len(operands) > program.most or (program.operands == "none" and operands):
        raise _Doubt(f"{name} with that many operands may write")
    if program.operands == "numbers" and not all(re.fullmatch(r"[-+]?\d+(\.\d+)?[smhd]?", word) for word in operands):
        raise _Doubt(f"{name} is only known with plain numbers")
    if program.operands == "pattern" and not program.instead & parsed.given:
        if not operands:
            raise _Doubt(f"{name} has no pattern")
        operands = operands[1:]
    if program.operands in {"paths", "pattern"}:
        for path in (*operands, *parsed.paths):
            if path != "-":
                look(path)


def _command(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if rest[:1] not in {("-v",), ("-V",)}:
        raise _Doubt("command without -v runs something")


def _cd(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if len(rest) != 1 or rest[0].startswith("-") or not rest[0]:
        raise _Doubt("cd is only followed into a named directory")
    look(rest[0])


def _printf(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if not rest or (rest[0].startswith("-") and rest[0] != "--"):
        raise _Doubt("printf with options may set a variable")
    if any(re.search(r"%[^%A-Za-z]*n", word) for word in rest):
        raise _Doubt("printf %n sets a variable")


def _date(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    parsed = sort_words(options("uR", "", "utc iso-8601=? rfc-3339= rfc-email date="), rest)
    if parsed.why or not all(word.startswith("+") for word in parsed.operands):
        raise _Doubt(parsed.why or "date with an operand may set the clock")


def _ps(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if rest not in {(), ("aux",), ("ax",), ("-ef",), ("-e",), ("-f",), ("-A",), ("-a",), ("-ax",), ("-aux",)}:
        raise _Doubt("only plain ps is known not to show environments")


_SED = re.compile(r"(?:(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?[pq=](?:;\s*|$))+|s/[\w .,-]*/[\w .,-]*/g?")


def _sed(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    parsed = sort_words(options("nEr", long="quiet silent regexp-extended"), rest)
    if parsed.why:
        raise _Doubt(parsed.why)
    if not parsed.operands or not _SED.fullmatch(parsed.operands[0]):
        raise _Doubt("only sed scripts that print lines by number are known to be harmless")
    for path in parsed.operands[1:]:
        look(path)


def _jq(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    parsed = sort_words(
        options("rcesjaSCMn", long="raw-output compact-output exit-status slurp join-output ascii-output sort-keys tab null-input"),
        rest,
    )
    if parsed.why:
        raise _Doubt(parsed.why)
    if not parsed.operands or re.search(r"env|import|include|input|debug|modulemeta|@sh|__", parsed.operands[0], re.IGNORECASE):
        raise _Doubt("this jq filter may read more than its files")
    for path in parsed.operands[1:]:
        look(path)


def _tar(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if len(rest) != 2 or not re.fullmatch(r"-?t[vz]*f", rest[0]) or ":" in rest[1]:
        raise _Doubt("tar is only known to be harmless as `tar tf FILE`")
    look(rest[1])


def _find(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    at = 0
    while at < len(rest) and not (rest[at].startswith("-") or rest[at] in {"(", "!", ")", ","}):
        look(rest[at])
        at += 1
    while at < len(rest):
        word = rest[at]
        takes = FIND_TESTS.get(word)
        if takes is None:
            raise _Doubt(f"find {word} is not known to be harmless")
        if takes:
            if at + 1 >= len(rest):
                raise _Doubt(f"find {word} needs a value")
            if takes == "path":
                look(rest[at + 1])
            at += 1
        at += 1


_TEST_WORDS = frozenset(
    "! -a -o -e -f -d -r -w -x -s -L -h -n -z -b -c -p -S -t -N -O -G = == != -eq -ne -lt -le -gt -ge -nt -ot -ef".split()
)


def _test(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    for word in rest:
        if word in _TEST_WORDS or not word:
            continue
        if word.startswith("-") and not re.fullmatch(r"-\d+", word):
            raise _Doubt(f"test {word} is not known to be harmless")
        look(word)


def _bracket(rest: tuple[str, ...], look: Callable[[str], None]) -> None:
    if rest[-1:] != ("]",):
        raise _Doubt("[ is not closed")
    _test(rest[:-1], look)


_SPECIAL: dict[str, Callable[[tuple[str, ...], Callable[[str], None]], None]] = {
    "[": _bracket,
    "cd": _cd,
    "command": _command,
    "date": _date,
    "find": _find,
    "jq": _jq,
    "printf": _printf,
    "ps": _ps,
    "sed": _sed,
    "tar": _tar,
    "test": _test,
}


def _git(rest: tuple[str, ...], look: Callable[[str], None], git_inert: Callable[[], bool]) -> None:
    while rest[:1] == ("--no-pager",):
        rest = rest[1:]
    verb = rest[0] if rest else ""
    reading = GIT.get(verb)
    if reading is None:
        raise _Doubt(f"git {verb} is not on the list of read-only commands".replace("  ", " "))
    if any("%G" in word for word in rest):
        raise _Doubt("a format that checks signatures runs another program")
    before, dashes, after = _divide(rest[1:])
    parsed = sort_words(reading.known, before)
    if parsed.why:
        raise _Doubt(parsed.why)
    operands = parsed.operands
    named = bool(reading.needs & parsed.given)
    if len(operands) > reading.most or (reading.needs and not named and (operands or not reading.bare)):
        raise _Doubt(f"git {verb} with these words may write")
    if reading.first and (operands[0] not in reading.first if operands else not reading.bare):
        raise _Doubt(f"git {verb} is only read-only as {' or '.join(sorted(reading.first))}")
    if reading.needs and dashes:
        raise _Doubt(f"git {verb} with -- may write")
    for word in (*operands, *after):
        for piece in {word, word.rpartition(":")[2]}:
            if piece:
                look(piece)
    if not git_inert():
        raise _Doubt("the repository's git configuration may name programs to run")


def _divide(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """The words before `--`, whether there is one, and the words behind it."""
    if "--" not in words:
        return words, False, ()
    at = words.index("--")
    return words[:at], True, words[at + 1 :]
