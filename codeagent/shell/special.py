"""Programs whose words are a small language of their own: find, sed, jq, test and a few more."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeagent.shell.options import listed, options, sort_words
from codeagent.shell.programs import FIND_TESTS

Words = tuple[str, ...]


class Doubt(Exception):
    """The command is not provably read-only; the message says why."""


def _command(rest: Words) -> Words:
    if rest[:1] not in {("-v",), ("-V",)}:
        raise Doubt("command without -v runs something")
    return ()


def _cd(rest: Words) -> Words:
    if len(rest) != 1 or rest[0].startswith("-") or not rest[0]:
        raise Doubt("cd is only followed into a named directory")
    return rest


def _printf(rest: Words) -> Words:
    if not rest or (rest[0].startswith("-") and rest[0] != "--"):
        raise Doubt("printf with options may set a variable")
    if any(re.search(r"%[^%A-Za-z]*[hjlLtz]*n", word) for word in rest):
        raise Doubt("printf %n sets a variable")
    return ()


def _date(rest: Words) -> Words:
    parsed = sort_words(options("uR", "", "utc iso-8601=? rfc-3339= rfc-email date="), rest)
    if parsed.why or not all(word.startswith("+") for word in parsed.operands):
        raise Doubt(parsed.why or "date with an operand may set the clock")
    return ()


def _ps(rest: Words) -> Words:
    if rest not in {(), ("aux",), ("ax",), ("-ef",), ("-e",), ("-f",), ("-A",), ("-a",), ("-ax",), ("-aux",)}:
        raise Doubt("only plain ps is known not to show environments")
    return ()


_SED_REGEX = r"/(?:[^/\\\n\[]|\\[.()*+?|{}^$<>bBwWsS])+/"
"""No brackets and no other escapes: in `[/]` and after a backslash with c sed reads the closing slash otherwise."""
_SED_PLACE = rf"(?:\d+|\$|{_SED_REGEX})"
_SED = re.compile(rf"(?:{_SED_PLACE}(?:,(?:{_SED_PLACE}|\+\d+))?[pq=](?:;\s*|$))+|s/[\w .,-]*/[\w .,-]*/g?")


def _sed(rest: Words) -> Words:
    parsed = sort_words(options("nEr", long="quiet silent regexp-extended"), rest)
    if parsed.why:
        raise Doubt(parsed.why)
    if not parsed.operands or not _SED.fullmatch(parsed.operands[0]):
        raise Doubt("only sed scripts that print chosen lines are known to be harmless")
    return parsed.operands[1:]


_JQ_REACHES = re.compile(r"\$ENV|\b(?:env|import|include|inputs?|input_filename|debug|modulemeta|get_search_list)\b")


def _jq(rest: Words) -> Words:
    parsed = sort_words(
        options(
            "rcesjaSCMn",
            long="raw-output compact-output exit-status slurp join-output ascii-output sort-keys tab null-input",
        ),
        rest,
    )
    if parsed.why:
        raise Doubt(parsed.why)
    if not parsed.operands or _JQ_REACHES.search(parsed.operands[0]):
        raise Doubt("this jq filter may read more than its files")
    return parsed.operands[1:]


_AWK = re.compile(r"\{\s*print(?:\s+\$(?:\d+|NF)(?:\s*,\s*\$(?:\d+|NF))*)?\s*\}")


def _awk(rest: Words) -> Words:
    parsed = sort_words(options("", "F"), rest)
    if parsed.why or not parsed.operands or not _AWK.fullmatch(parsed.operands[0]):
        raise Doubt(parsed.why or "only awk programs that print fields are known to be harmless")
    if any("=" in path for path in parsed.operands[1:]):
        raise Doubt("awk takes NAME=value for an assignment")
    return parsed.operands[1:]


def _tar(rest: Words) -> Words:
    if len(rest) != 2 or not re.fullmatch(r"-?t[vz]*f", rest[0]) or ":" in rest[1]:
        raise Doubt("tar is only known to be harmless as `tar tf FILE`")
    return rest[1:]


def _find(rest: Words) -> Words:
    at = 0
    paths: list[str] = []
    while at < len(rest) and not (rest[at].startswith("-") or rest[at] in {"(", "!", ")", ","}):
        paths.append(rest[at])
        at += 1
    while at < len(rest):
        word = rest[at]
        takes = FIND_TESTS.get(word)
        if takes is None:
            raise Doubt(f"find {word} is not known to be harmless")
        if takes:
            if at + 1 >= len(rest):
                raise Doubt(f"find {word} needs a value")
            if takes == "path":
                paths.append(rest[at + 1])
            at += 1
        at += 1
    return tuple(paths)


_TEST_WORDS = listed(
    "! -a -o -e -f -d -r -w -x -s -L -h -n -z -b -c -p -S -t -N -O -G = == != -eq -ne -lt -le -gt -ge -nt -ot -ef"
)


def _test(rest: Words) -> Words:
    operands = tuple(word for word in rest if word and word not in _TEST_WORDS)
    for word in operands:
        if word.startswith("-") and not re.fullmatch(r"-\d+", word):
            raise Doubt(f"test {word} is not known to be harmless")
    return operands


def _bracket(rest: Words) -> Words:
    if rest[-1:] != ("]",):
        raise Doubt("[ is not closed")
    return _test(rest[:-1])


SPECIAL: dict[str, Callable[[Words], Words]] = {
    "[": _bracket,
    "awk": _awk,
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
"""By program: the words after its name to the paths that it reads. Raises Doubt."""
