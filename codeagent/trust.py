"""What may act of all that came with a directory: remembered outside of it, by file and by what was in the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from codeagent.core.effects import Brought

LARGEST = 1_000_000
"""Bytes of the largest file that can be trusted."""


class Trust:
    """Remembers what was said yes and no to. A memory that cannot be read remembers nothing, and is left as it is."""

    def __init__(self, state_home: Path) -> None:
        self._file = state_home / "codeagent" / "trusted.json"

    @property
    def problem(self) -> str:
        """Why the memory cannot be used, in words, or an empty string."""
        return self._read()[1]

    def covers(self, present: Mapping[str, str]) -> bool:
        """Whether all of these, files by path with the digest of what was read of them, were accepted as such."""
        known = self._said("yes")
        return all(_digest(known.get(path)) == digest for path, digest in present.items())

    def believes(self, path: Path, digest: str) -> bool:
        """Whether this content of that file was accepted."""
        return bool(digest) and _digest(self._said("yes").get(str(path))) == digest

    def news(self, items: Iterable[Brought]) -> tuple[Brought, ...]:
        """Those that were neither accepted nor refused as they are now; changed ones with what they wanted before."""
        yes, no = self._said("yes"), self._said("no")
        found = []
        for item in items:
            refused = no.get(item.path)
            known = refused.get("sha256") if isinstance(refused, dict) else None
            if item.digest in (_digest(yes.get(item.path)), known):
                continue
            before = yes.get(item.path)
            told = before.get("told", ()) if isinstance(before, dict) else ()
            found.append(
                Brought(item.path, item.kind, item.words, item.digest, before is not None, tuple(map(str, told)))
            )
        return tuple(found)

    def accept(self, items: Iterable[Brought]) -> None:
        """Let these act, as they were shown. Raises OSError."""
        self._put(items, "yes")

    def refuse(self, items: Iterable[Brought]) -> None:
        """Do not ask about these again until they change. Raises OSError."""
        self._put(items, "no")

    def wrote(self, path: Path, before: str, after: str) -> None:
        """Believe the settings file that codeagent itself wrote, if what it wrote into was believed. Raises OSError.

        `before` is the digest of that, "" when there was no file; nothing that another put there is taken along.
        """
        if before and not self.believes(path, before):
            return
        known = self._said("yes").get(str(path))
        told = known.get("told", ()) if isinstance(known, dict) else ()
        self._put([Brought(str(path), "settings", tuple(map(str, told)), after)], "yes")

    def _put(self, items: Iterable[Brought], answer: str) -> None:
        from codeagent.host.durable import locked, make_private, replace

        make_private(self._file.parent)
        with locked(self._file.with_name("trusted.lock")):
            content, problem = self._read()
            if problem:
                raise OSError(problem)
            for item in items:
                for said in ("yes", "no"):
                    content.setdefault(said, {}).pop(item.path, None)
                if item.digest:
                    content[answer][item.path] = {"sha256": item.digest, "told": list(item.words)}
            replace(self._file, json.dumps(content, indent=1, sort_keys=True).encode())

    def _said(self, answer: str) -> dict[str, Any]:
        found: dict[str, Any] = self._read()[0].get(answer, {})
        return found

    def _read(self) -> tuple[dict[str, Any], str]:
        """What is remembered, and what is wrong with it."""
        from codeagent.host.durable import read_regular

        try:
            content = json.loads(read_regular(self._file, 10 * LARGEST)[0])
        except FileNotFoundError:
            return {}, ""
        except (OSError, ValueError, RecursionError) as fault:
            return (
                {},
                f"{self._file} cannot be read ({fault}): nothing is trusted. It was left as it is; mend or remove it.",
            )
        if not isinstance(content, dict) or not all(isinstance(content.get(said, {}), dict) for said in ("yes", "no")):
            return {}, f"{self._file} has another form than expected: nothing is trusted. Mend or remove it."
        return content, ""


def digest_of(path: Path) -> str:
    """The sha256 of an ordinary file of at most LARGEST bytes; empty when there is none, `unreadable` for others."""
    from codeagent.host.durable import read_regular

    try:
        return hashlib.sha256(read_regular(path, LARGEST)[0]).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "unreadable"


def _digest(remembered: Any) -> str:
    digest = remembered.get("sha256") if isinstance(remembered, dict) else None
    return digest if isinstance(digest, str) and digest != "unreadable" else ""
