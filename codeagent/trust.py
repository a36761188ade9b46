"""Which project settings count: those that this user's codeagent wrote itself, and what was said yes to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, ValidationError, convert, to_builtins

from codeagent.core.errors import UsageFault

CLAIMING = (
    ".agent/settings.json",
    ".agent/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
)
"""Files in a project whose allow rules would widen what runs unasked."""

_MOST = 10_000_000
"""Bytes of the largest file that is read: a larger one is none of ours."""


_HUGE = "too large"
"""Instead of a hash: never believed."""


class _Known(Struct):
    """sha256 by file, and per project what its files wanted when it was said yes to."""

    files: dict[str, str] = {}
    claims: dict[str, tuple[str, ...]] = {}


class Trust:
    """Remembers, outside the project, the sha256 of each settings file that may be believed."""

    def __init__(self, state_home: Path) -> None:
        self._file = state_home / "codeagent" / "trusted.json"

    def covers(self, project: Path) -> bool:
        """Whether every settings file of this project is exactly one that was recorded."""
        present = {str(project / name): _digest(project / name) for name in CLAIMING}
        if not any(present.values()):
            return True
        try:
            known = self._known().files
        except UsageFault:
            return False
        return all(not digest or (known.get(path) == digest != _HUGE) for path, digest in present.items())

    def seen(self, project: Path) -> tuple[str, ...]:
        """What the files of this project wanted when they were last accepted."""
        try:
            return self._known().claims.get(str(project), ())
        except UsageFault:
            return ()

    def record(self, project: Path, claims: Sequence[str] | None = None) -> None:
        """Believe this project's settings as they are now; `claims` are what was shown.

        Raises UsageFault when our own record is broken: it is left as it is.
        """
        known = self._known()
        known.files.update({str(project / name): _digest(project / name) for name in CLAIMING})
        if claims is not None:
            known.claims[str(project)] = tuple(claims)
        from codeagent.host.durable import make_private, replace

        make_private(self._file.parent)
        replace(self._file, json.dumps(to_builtins(known), indent=1, sort_keys=True).encode())

    def flaw(self) -> str:
        """What is wrong with our own record, in words; empty when nothing is."""
        try:
            self._known()
        except UsageFault as fault:
            return str(fault)
        return ""

    def _known(self) -> _Known:
        try:
            if self._file.stat().st_size > _MOST:
                raise UsageFault(f"{self._file} is too large to be ours; nothing is trusted until it is moved away.")
            return convert(json.loads(self._file.read_bytes()), _Known)
        except (FileNotFoundError, NotADirectoryError):
            return _Known()
        except (OSError, ValueError, RecursionError, ValidationError) as fault:
            words = f"{self._file} cannot be used ({fault}); nothing is trusted until it is mended or moved away."
            raise UsageFault(words) from None


def news(claims: Iterable[str], seen: Sequence[str]) -> tuple[str, ...]:
    """The claims, those that are new since the last yes marked so."""
    return tuple(f"{'new: ' if seen and claim not in seen else ''}{claim}" for claim in claims)


def _digest(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST:
            return _HUGE
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
