"""Kinds of sub-agents that Markdown files define, beside those of the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from codeagent.core.subagents import BUILT_IN, Kind
from codeagent.host.durable import read_regular

MOST = 50
"""Definitions that are read of one directory."""

SIZE = 64 * 1024
"""Bytes of a definition."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
_FRONT = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_-]+):[ \t]*(.*)")
_ITEM = re.compile(r"\s*-\s+(.*)")


def whole(file: Path) -> bytes | None:
    """What is in a definition. Raises OSError."""
    return read_regular(file, SIZE)[0]


def kinds(
    directories: Iterable[Path], content: Callable[[Path], bytes | None] = whole
) -> tuple[dict[str, Kind], tuple[str, ...]]:
    """Kinds by name, the product's and those in these directories, of one name the last; and problems in words.

    `content` gives what is in a file, None for one that does not count.
    """
    found = {kind.name: kind for kind in BUILT_IN}
    problems = []
    for directory in directories:
        for file in sorted(directory.glob("*.md"))[:MOST]:
            try:
                data = content(file)
                if data is None:
                    continue
                kind = read_kind(file, data)
            except (ValueError, OSError) as wrong:
                problems.append(f"{file}: {wrong}. This sub-agent is left out.")
                continue
            found[kind.name] = kind
    return found, tuple(problems)


def read_kind(file: Path, data: bytes) -> Kind:
    """Read what is in one definition. Raises ValueError in words that name the field."""
    if len(data) > SIZE:
        raise ValueError(f"it is longer than {SIZE // 1024} KiB")
    text = data.decode("utf-8", "replace")
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
