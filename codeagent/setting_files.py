"""One settings file: read with care, and named by line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from msgspec import Struct

from codeagent.core.errors import UsageFault

_MOST = 1_000_000
"""Bytes of the largest settings file that is read."""


Stamp = tuple[int, int, int] | None
"""Change time (ns), size and inode; None where there is no file."""


UNREADABLE = "unreadable"
"""Stands for the digest of a file whose bytes are not known."""


class Broken(UsageFault):
    """A settings file that cannot be used at all; the message says which and why, `digest` as of a SettingsFile."""

    digest = UNREADABLE


class SettingsFile(Struct, frozen=True):
    """A file's text, the object in it, and the sha256 of the bytes that they come from; "" where there was no file."""

    path: Path
    text: str
    content: dict[str, Any]
    digest: str = ""

    def line_of(self, name: str, value: str) -> int:
        """1-based line on which `value` stands in the list `name`; 1 when it cannot be found."""
        start = max(self.text.find(f'"{name}"'), 0)
        for spelt in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
            place = self.text.find(spelt, start)
            if place >= 0:
                return self.text.count("\n", 0, place) + 1
        return 1

    def line_of_key(self, name: str) -> int:
        """1-based line on which the setting of this dotted name stands; 1 when it cannot be found."""
        group, _, last = name.rpartition(".")
        for words in ([name], [group, last]):
            place = 0
            for word in words:
                found = re.compile(rf"{re.escape(json.dumps(word))}\s*:").search(self.text, place)
                place = found.start() if found else -1
                if place < 0:
                    break
            if place >= 0:
                return self.text.count("\n", 0, place) + 1
        return 1


def read(path: Path) -> SettingsFile | None:
    """The settings in this file, None when there is no such file. Raises Broken."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise Broken(f"{path} cannot be read: {fault.strerror or fault}.") from None
    if not stat.S_ISREG((found := os.fstat(fd)).st_mode):
        os.close(fd)
        raise Broken(f"{path} is no ordinary file.")
    with os.fdopen(fd, "rb") as file:
        if found.st_size > _MOST:
            raise Broken(f"{path} has {found.st_size:,} bytes; settings have at most {_MOST:,}.")
        data = file.read()
    try:
        return _parsed(path, data)
    except Broken as fault:
        fault.digest = digest_of(data)
        raise


def _parsed(path: Path, data: bytes) -> SettingsFile:
    try:
        text = data.decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_no_key_twice) if text.strip() else {}
    except json.JSONDecodeError as fault:
        raise Broken(f"{path}:{fault.lineno} is no valid JSON: {fault.msg.lower()}.") from None
    except RecursionError:
        raise Broken(f"{path} is nested too deeply.") from None
    except ValueError as fault:
        raise Broken(f"{path} cannot be used: {fault}.") from None
    if not isinstance(content, dict):
        raise Broken(f"{path} holds {type(content).__name__}, a JSON object is wanted.")
    return SettingsFile(path, text, content, digest_of(data))


def digest_of(data: bytes) -> str:
    """As of a SettingsFile."""
    return hashlib.sha256(data).hexdigest()


def stamp(path: Path) -> Stamp:
    """How a file is now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ctime_ns, found.st_size, found.st_ino


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A second `deny` would silently undo the first."""
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} comes twice")
    return content
