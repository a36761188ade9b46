"""What the process environment says beyond single settings: keys, headers, directories, the editor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct


class Environment(Struct, frozen=True):
    """What the process environment says. `headers` go with every model request; directories are absolute."""

    config_home: Path
    state_home: Path
    api_key: str = ""
    auth_token: str = ""
    headers: Mapping[str, str] = {}
    editor: str = ""

    @classmethod
    def of(cls, environ: Mapping[str, str], home: Path) -> Environment:
        """Read it; relative XDG directories do not count, as their standard says."""

        def directory(name: str, default: Path) -> Path:
            path = Path(environ.get(name, ""))
            return path if path.is_absolute() else default

        headers = {}
        for line in environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip():
                headers[name.strip()] = value.strip()
        return cls(
            config_home=directory("XDG_CONFIG_HOME", home / ".config"),
            state_home=directory("XDG_STATE_HOME", home / ".local" / "state"),
            api_key=environ.get("ANTHROPIC_API_KEY", "").strip(),
            auth_token=environ.get("ANTHROPIC_AUTH_TOKEN", "").strip(),
            headers=headers,
            editor=environ.get("VISUAL") or environ.get("EDITOR") or "",
        )
