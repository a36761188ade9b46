"""Kinds of sub-agents: the two of the product, and those that Markdown files define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from codeagent.core.subagents import Kind
from codeagent.host.durable import read_regular

PROJECT = (".claude/agents", ".agent/agents")
"""Where a project keeps definitions; of two with one name the later directory's counts."""

MOST = 50
"""Definitions that are read of one directory."""

SIZE = 64 * 1024
"""Bytes of a definition."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
_FRONT = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_-]+):[ \t]*(.*)")
_ITEM = re.compile(r"\s*-\s+(.*)")

BUILT_IN = (
    Kind(
        "explore",
        "finds out and changes nothing",
        "You explore a project for another agent and report to it. You can only read and search. Look in several "
        "places, by several names, before you say that something is not there. Answer what was asked, with paths and "
        "line numbers, and say what you did not check. Your last message is all that the other agent gets.",
        ("read", "grep", "glob"),
    ),
    Kind(
        "general",
        "any task of several steps",
        "You do one task for another agent, in the same project and with the same permissions, and report to it. "
        "Nobody can answer questions: decide yourself, and say what you assumed. Do what was asked and no more; check "
        "that it works. End with what you did, the files that you changed, and what is left open. Your last message is "
        "all that the other agent gets.",
    ),
)


def kinds(directories: Iterable[Path]) -> tuple[dict[str, Kind], tuple[str, ...]]:
    """Kinds by name, the product's and those in these directories, of one name the last; and problems in words."""
    found = {kind.name: kind for kind in BUILT_IN}
    problems = []
    for directory in directories:
        for file in definitions(directory):
            try:
                kind = read_kind(file)
            except (ValueError, OSError) as wrong:
                problems.append(f"{file}: {wrong}. This sub-agent is left out.")
                continue
            found[kind.name] = kind
    return found, tuple(problems)


def definitions(directory: Path) -> Sequence[Path]:
    """The files of a directory that define sub-agents, by name."""
    try:
        return sorted(directory.glob("*.md"))[:MOST]
    except OSError:
        return ()


def read_kind(file: Path) -> Kind:
    """Read one definition. Raises ValueError in words that name the field, and OSError."""
    text = read_regular(file, SIZE)[0].decode("utf-8", "replace")
    front = _FRONT.match(text)
    if front is None:
        raise ValueError("it begins with no front matter (--- name, description ---)")
    fields = dict(_fields(front[1]))
    name = fields.get("name", file.stem).strip().lower()
    if not _NAME.fullmatch(name):
        raise ValueError(f"name: letters, digits, - and _ are wanted, {name[:60]!r} came")
    description = " ".join(fields.get("description", "").split())
    if not description:
        raise ValueError("description: a text that says what it is for is wanted")
    model = fields.get("model", "").strip()
    return Kind(
        name,
        description,
        front[2].strip() or description,
        _words(fields["tools"]) if fields.get("tools", "").strip() not in ("", "*") else None,
        "" if model == "inherit" else model,
        _steps(fields),
        str(file),
    )


def _steps(fields: Mapping[str, str]) -> int:
    given = fields.get("maxturns", "0").strip()
    if not given.isdecimal() or len(given) > 6:
        raise ValueError(f"maxTurns: a whole number is wanted, {given[:20]!r} came")
    return int(given)


def _words(value: str) -> tuple[str, ...]:
    """`Read, Bash(git *)` or `[read, bash]` as names; what stands in brackets is for rules to say."""
    plain = re.sub(r"\([^)]*\)", "", value.strip().strip("[]"))
    return tuple(word.strip("'\"") for word in re.split(r"[,\s]+", plain) if word)


def _fields(front: str) -> Iterator[tuple[str, str]]:
    """`key: value` lines; a value may go on in indented lines or as a list of `- item` lines."""
    name, value = "", ""
    for line in front.splitlines():
        field = _FIELD.fullmatch(line.rstrip())
        if field is None:
            item = _ITEM.fullmatch(line)
            value = f"{value}, {item[1]}".lstrip(", ") if item else f"{value} {line.strip()}"
            continue
        if name:
            yield name, _bare(value)
        name, value = field[1].lower(), field[2]
    if name:
        yield name, _bare(value)


def _bare(value: str) -> str:
    """Without quotes, and without the mark of a folded text."""
    value = re.sub(r"^[>|][+-]?\s", "", value.strip() + " ").strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
