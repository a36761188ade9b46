"""The memory index, MEMORY.md: one line a topic, always in the prompt; read, bounded, and changed line by line."""

from __future__ import annotations

import re

from msgspec import Struct

LINES = 200
"""Lines of the index that are loaded."""

BYTES = 25_000
"""Bytes of the index that are loaded."""

WIDTH = 150
"""An index line is shorter than this, in characters."""

TITLE = "# Memory\n\n"

_LINE = re.compile(r"- \[([^\]\n]+)\]\(([^()\s/]+\.md)\)(?: - (.*))?")


class IndexLine(Struct, frozen=True):
    """A topic in the index."""

    name: str
    file: str
    description: str = ""

    def __str__(self) -> str:
        return f"- [{self.name}]({self.file}) - {self.description}"


class Index(Struct, frozen=True):
    """The index file: its text, the topics in it, and what is wrong with it in words."""

    text: str
    topics: tuple[IndexLine, ...]
    problems: tuple[str, ...]


def read(text: str) -> Index:
    """The topics in an index; lines of another shape are the user's own, and kept, and reported if they look meant."""
    topics: dict[str, IndexLine] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            if line.startswith(("- [", "<<<<<<<", "=======", ">>>>>>>")):
                problems.append(f"MEMORY.md:{number} is no index line: - [Name](topic.md) - description is wanted.")
        elif found[2] in topics:
            problems.append(f"MEMORY.md:{number} names {found[2]} a second time.")
        else:
            topics[found[2]] = IndexLine(found[1], found[2], found[3] or "")
    return Index(text, tuple(topics.values()), tuple(problems))


def loaded(text: str) -> str:
    """What of the index goes into the prompt, with a notice when not all of it does."""
    whole = text.splitlines()
    kept: list[str] = []
    size = 0
    for line in whole[:LINES]:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > BYTES:
            break
        kept.append(line)
    shown = "\n".join(kept).strip()
    notice = over(text)
    return f"{shown}\n\n({len(whole) - len(kept)} lines of the index are not shown. {notice})" if notice else shown


def over(text: str) -> str:
    """What is to be done about an index that is too long to be loaded whole; empty when it is not."""
    lines, size = len(text.splitlines()), len(text.encode("utf-8", "replace"))
    if lines <= LINES and size <= BYTES:
        return ""
    return (
        f"The memory index has {lines:,} lines and {size:,} bytes; {LINES} lines and {BYTES:,} bytes are loaded. "
        "Join or delete topics, or shorten their descriptions."
    )


def with_topic(text: str, topic: IndexLine) -> str:
    """The index with this topic's line put in place of its old one, or at the end; all other lines stay."""
    lines = text.splitlines(keepends=True) if text.strip() else [TITLE]
    for at, line in enumerate(lines):
        found = _LINE.fullmatch(line.rstrip())
        if found and found[2] == topic.file:
            lines[at] = f"{topic}\n"
            return "".join(lines)
    if not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines, f"{topic}\n"])


def without_topic(text: str, file: str) -> str:
    """The index without the lines of this topic."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not ((found := _LINE.fullmatch(line.rstrip())) and found[2] == file))
