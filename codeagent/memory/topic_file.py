"""A topic as a file: front matter with where it came from and a seal, then Markdown."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from msgspec import Struct

from codeagent.core.notebook import Topic
from codeagent.memory.seal import seal

_FRONT = re.compile(r"---\n(.*?)\n---\n\n?(.*)", re.DOTALL)
_SEAL = re.compile(r"^seal: [0-9a-f]*\n", re.MULTILINE)
_LONGEST = 60
"""Characters of a file's name before `.md`."""
_FIELDS = ("name", "description", "type", "created", "updated", "session")


class TopicFile(Struct, frozen=True):
    """A topic that was read. `fields` is its front matter; `sealed` says that its bytes are as codeagent wrote them."""

    fields: dict[str, str]
    text: str
    sealed: bool


def file_name(name: str) -> str:
    """The file of a topic with this name; names that differ in case, accents or punctuation alone share one.

    A name that does not fit, being long or in other letters than a to z, is told apart by a digest.
    """
    if name.endswith(".md") and len(name) > 3:
        name = name[:-3]
    letters = "".join(
        char for char in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(char)
    )
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    told = re.sub(r"\W+", "-", letters)
    if not slug or len(slug) > _LONGEST or not told.isascii():
        digest = hashlib.sha256((told.strip("-") or letters).encode("utf-8", "replace")).hexdigest()[:8]
        slug = f"{slug[: _LONGEST - 9].strip('-') or 'topic'}-{digest}"
    return f"{slug}-notes.md" if slug == "memory" else f"{slug}.md"  # memory.md is MEMORY.md on many a Mac


def write(topic: Topic, key: bytes, file: str, created: str, today: str, session: str) -> str:
    """The whole text of a topic's file; dates are YYYY-MM-DD."""
    values = (topic.name, topic.description, topic.kind, created, today, session)
    front = "".join(f"{field}: {' '.join(value.split())}\n" for field, value in zip(_FIELDS, values, strict=True))
    body = topic.text.strip("\n") + "\n"
    front, body = _whole(front), _whole(body)
    return f"---\n{front}seal: {seal(key, file, front + body)}\n---\n\n{body}"


def _whole(text: str) -> str:
    """Half a surrogate pair has no place in a file."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read(text: str, key: bytes, file: str) -> TopicFile | None:
    """A topic's file; None when it has no front matter that can be read."""
    found = _FRONT.fullmatch(text)
    if found is None:
        return None
    fields = {}
    for line in found[1].splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            return None
        fields[name.strip()] = value.strip()
    if not {"name", "description"} <= fields.keys():
        return None
    claimed = fields.pop("seal", "")
    sealed = seal(key, file, _SEAL.sub("", found[1] + "\n", count=1) + found[2]) == claimed
    return TopicFile(fields, found[2], sealed)
