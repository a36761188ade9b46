"""Search the contents of files: with ripgrep, else with Python in a process that can be killed.

Both speak the events of `rg --json`, so that one reading gives one answer.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from codeagent.core.errors import ToolFault
from codeagent.host.listing import Lister
from codeagent.host.programs import child, head_of
from codeagent.host.search_events import Found, Query, Reading, Sorting, read_all

PATTERN = 60_000
"""Bytes of a pattern, at most."""
BIGGEST = "1G"
"""Files beyond this size are not searched: a sparse one would take for ever."""
PATIENCE = 5.0
"""Seconds that Python's `re` may take for one file."""


async def search(query: Query, folder: Path, file: str, lister: Lister) -> Found:
    """Search a folder, or one `file` in it. Raises ToolFault: invalid_regex, regex_too_complex, engine."""
    if len(query.pattern.encode()) > PATTERN:
        raise ToolFault(f"pattern: more than the {PATTERN:,} bytes possible.", kind="invalid_regex")
    if lister.rg:
        try:
            return await _by_rg(query, folder, file, lister)
        except _NoPcre:
            pass  # this ripgrep was built without PCRE; Python knows look-around too
    return await _by_python(query, folder, file, lister)


class _NoPcre(Exception):
    """This ripgrep has no PCRE."""


async def _by_rg(query: Query, folder: Path, file: str, lister: Lister) -> Found:
    flags = {
        "--fixed-strings": query.literal,
        "--ignore-case": query.ignore_case,
        "--word-regexp": query.word,
        "--multiline": query.multiline,
        "--multiline-dotall": query.multiline,
        "--pcre2": query.pcre,
        "--no-ignore": not query.rules,
    }
    command = [lister.rg, "--no-config", "--json", "--binary", "--crlf", f"--max-filesize={BIGGEST}"]
    command += [*lister.rg_rules(folder), *(flag for flag, on in flags.items() if on)]
    command += [f"--before-context={query.before}", f"--after-context={query.after}"]
    command += [f"--max-count={query.most + (not query.names_only)}", "-e", query.pattern, "--", f"./{file}"]
    found = Found()
    async with child(command, str(folder), lister.env) as process:
        complaining = asyncio.create_task(head_of(process.stderr))
        sorting = Sorting(query.skip + query.keep + 1)
        await read_all(process.stdout, sorting)
        sorting.tell(Reading(query, found))
        complaint = (await complaining).decode("utf-8", "replace")
        if await process.wait() == 2 and not found.counts:
            _complain(complaint)
    return found


def _complain(complaint: str) -> None:
    """Turn ripgrep's complaint into a fault, unless it is only of files that it could not read."""
    words = complaint.strip().removeprefix("rg: ")
    if "PCRE2 is not available" in words:
        raise _NoPcre
    if "match limit" in words or "backtracking" in words:
        raise _too_complex()
    if "regex" in words or "PCRE2" in words or "pattern" in words:
        words = words.replace("--pcre2", "pcre: true").replace("--fixed-strings", "literal: true")
        raise ToolFault(f"pattern: {words}\nEscape special characters, or set literal.", kind="invalid_regex")
    if words and "os error" not in words:
        raise ToolFault(f"The search failed: {words[:500]}", kind="engine")


def _too_complex() -> ToolFault:
    return ToolFault(
        "pattern: it takes too long to match (nested repetitions?), the search was ended. Make it simpler.",
        kind="regex_too_complex",
    )


async def _by_python(query: Query, folder: Path, file: str, lister: Lister) -> Found:
    listed = [file] if file else (await lister.files(folder, rules=query.rules)).paths
    names = sorted((name for name in listed if query.wanted(name)), key=lambda name: name.split("/"))
    job = {
        "files": names,
        "pattern": query.pattern,
        "literal": query.literal,
        "ignore_case": query.ignore_case,
        "word": query.word,
        "multiline": query.multiline,
        "before": query.before,
        "after": query.after,
        "room": query.skip + query.keep + 1,
        "seconds": PATIENCE,
    }
    worker = Path(__file__).with_name("search_worker.py")
    command = [sys.executable, "-I", "-S", str(worker)]
    found = Found()
    reading = Reading(query, found)
    async with child(command, str(folder), {"PATH": ""}, b"") as process:
        if process.stdin:
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()
        await read_all(process.stdout, reading)
        code = await process.wait()
    if code == -signal.SIGALRM:
        raise _too_complex()
    if reading.error:
        raise ToolFault(f"pattern: {reading.error}", kind="invalid_regex")
    return found
