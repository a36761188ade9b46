"""Search files with Python's `re`, in a process of its own that can be killed: a pattern may take for ever.

Reads one JSON object from stdin (see `search.py`) and writes the events that `rg --json` would,
with the lines of the first `room` hits. Uses the standard library alone and is run with -I -S.
The signal SIGALRM ends it when one file takes longer than `seconds`.
"""

from __future__ import annotations

import base64
import codecs
import json
import os
import re
import signal
import stat
import sys
import warnings
from itertools import islice
from typing import Any

BIGGEST = 64 << 20
"""Bytes of a file up to which it is searched."""

_POSIX = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "space": r"\s",
    "upper": "A-Z",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PIECE = re.compile(r"\\(.)|\[:(\w+):\]|(\{)(?!\d+(?:,\d*)?\})", re.DOTALL)


class BadPattern(Exception):
    """The pattern cannot be read."""


def compiled(job: dict[str, Any]) -> re.Pattern[str]:
    """The pattern with the meaning that ripgrep gives it."""
    flags = re.MULTILINE if job["multiline"] else 0
    if job["multiline"]:
        flags |= re.DOTALL
    if job["ignore_case"]:
        flags |= re.IGNORECASE
    pattern = re.escape(job["pattern"]) if job["literal"] else _PIECE.sub(_translated, job["pattern"])
    if job["word"]:
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(str(error)) from error


def _translated(match: re.Match[str]) -> str:
    if match[1] == "z":
        return r"\Z"
    if match[1] in ("p", "P"):
        raise BadPattern(r"\p{..} classes need ripgrep, which is not there")
    if match[2]:
        return _POSIX.get(match[2], match.group())
    if match[3]:
        raise BadPattern(r"repetition braces hold no number; escape a literal brace as \{ or search literally")
    return match.group()


def main() -> int:
    """Do the job on stdin; the exit code is 2 for a pattern that cannot be read."""
    job = json.load(sys.stdin)
    try:
        pattern = compiled(job)
    except BadPattern as error:
        sys.stdout.write(json.dumps({"type": "error", "data": str(error)}) + "\n")
        return 2
    simple = not re.search(r"\$|\\[AZz]|\(\?", job["pattern"]) or job["literal"]
    whole = re.compile(pattern.pattern, pattern.flags | re.MULTILINE) if simple else None
    needle = _needle(job)
    for name in job["files"]:
        signal.setitimer(signal.ITIMER_REAL, job["seconds"])
        data = _bytes(name)
        if data is not None and needle not in data and not data.startswith(_WIDE):
            continue
        for event in searched(name, data, pattern, whole, job):
            job["room"] -= event["type"] == "match"
            sys.stdout.write(json.dumps(event) + "\n")
    return 0


def _needle(job: dict[str, Any]) -> bytes:
    """Bytes that every file with a hit holds, if the pattern is plain ASCII text; else nothing, which all hold."""
    pattern = job["pattern"]
    plain = job["literal"] or re.fullmatch(r"[\w \-/:;=,@%&<>!\"'~`]*", pattern)
    return pattern.encode() if plain and pattern.isascii() and not job["ignore_case"] else b""


def searched(
    name: str, data: bytes | None, pattern: re.Pattern[str], whole: re.Pattern[str] | None, job: dict[str, Any]
) -> list[Any]:
    """The events of one file; none when nothing is found."""
    path = _data(os.fsencode(name))
    if data is None:
        return [{"type": "skipped", "data": {"path": path}}]
    binary = b"\0" in data and not data.startswith(_WIDE)
    text = _text(data)
    if whole and not whole.search(text):
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    hits = _multiline(pattern, text) if job["multiline"] else _by_line(pattern, lines)
    hits = {number: span for number, span in hits.items() if number < len(lines)}
    if not hits:
        return []
    kept = islice(hits, job["room"])
    wanted = sorted({n for hit in kept for n in range(hit - job["before"], hit + job["after"] + 1)})
    events: list[Any] = [{"type": "begin", "data": {"path": path}}]
    for number in wanted if not binary else ():
        if 0 <= number < len(lines):
            kind = "match" if number in hits else "context"
            spans = [{"start": hits[number]}] if number in hits else []
            line = _data(lines[number].encode("utf-8", "surrogateescape"))
            shown = {"path": path, "lines": line, "line_number": number + 1, "submatches": spans}
            events.append({"type": kind, "data": shown})
    stats = {"matched_lines": len(hits)}
    events.append({"type": "end", "data": {"path": path, "binary_offset": 0 if binary else None, "stats": stats}})
    return events


def _bytes(name: str) -> bytes | None:
    """The bytes of a regular file, empty where it cannot be read; None when it is too big."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode):
            return b""
        if state.st_size > BIGGEST:
            return None
        data = os.read(fd, state.st_size + 1)
        if len(data) != state.st_size:  # it grows, is longer than one read may be, or lies in /proc
            data += _rest(fd, BIGGEST + 1 - len(data))
        return data if len(data) <= BIGGEST else None
    except OSError:
        return b""
    finally:
        os.close(fd)


def _rest(fd: int, most: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read(most)


def _text(data: bytes) -> str:
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(codec, "replace")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _by_line(pattern: re.Pattern[str], lines: list[str]) -> dict[int, int]:
    search = pattern.search
    found = ((n, search(line[:-1] if line.endswith("\r") else line)) for n, line in enumerate(lines))
    return {n: _offset(lines[n], match.start()) for n, match in found if match}


def _multiline(pattern: re.Pattern[str], text: str) -> dict[int, int]:
    hits: dict[int, int] = {}
    at = line = 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        last = line + text.count("\n", at, max(at, match.end() - 1))
        for number in range(line, last + 1):
            hits.setdefault(number, 0)
    return hits


def _offset(line: str, at: int) -> int:
    return at if line.isascii() else len(line[:at].encode("utf-8", "surrogateescape"))


def _data(raw: bytes) -> dict[str, str]:
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(raw).decode()}


if __name__ == "__main__":
    sys.exit(main())
