"""Which project settings count: those that this user's codeagent wrote itself, and what was said yes to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

CLAIMING = (
    ".agent/settings.json",
    ".agent/settings.local.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
)
"""Files in a project whose allow rules would widen what runs unasked."""

_MOST = 4 << 20
"""Bytes of such a file, and of the record, at most."""


class Trust:
    """Remembers, outside the project, the sha256 of each settings file that may be believed."""

    def __init__(self, state_home: Path) -> None:
        self._file = state_home / "codeagent" / "trusted.json"

    def covers(self, project: Path) -> bool:
        """Whether every settings file of this project is exactly one that was recorded."""
        present = {str(project / name): _digest(project / name) for name in CLAIMING}
        known = self._known()
        return all(not digest or known.get(path) == digest != "unreadable" for path, digest in present.items())

    def record(self, files: Iterable[Path]) -> None:
        """Believe these files as they are now."""
        known = self._known()
        known.update({str(path): _digest(path) for path in files})
        from codeagent.host.durable import make_private, replace

        make_private(self._file.parent)
        replace(self._file, json.dumps(known, indent=1, sort_keys=True).encode())

    def _known(self) -> dict[str, str]:
        from codeagent.host.durable import read_regular

        try:
            known = json.loads(read_regular(self._file, _MOST)[0])
        except (OSError, ValueError, RecursionError):
            return {}
        return known if isinstance(known, dict) else {}


def _digest(path: Path) -> str:
    """The sha256 of a file, empty where there is none; what cannot be read whole is never believed."""
    from codeagent.host.durable import read_regular

    try:
        return hashlib.sha256(read_regular(path, _MOST)[0]).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "unreadable"
