"""What a person sees and changes of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.listed import ListedSetting
from codeagent.setting_files import remember_value
from codeagent.setting_keys import KEYS, Key, checked

if TYPE_CHECKING:
    from codeagent.settings import Settings


def listed(settings: Settings) -> Sequence[ListedSetting]:
    """Each setting that is no list, those that were set first."""
    file = str(own_file(settings))
    rows = [
        ListedSetting(key.name, _shown(settings[key.name]), settings.source(key.name), _choices(key), file)
        for key in KEYS.values()
        if key.kind != "texts"
    ]
    return sorted(rows, key=lambda row: row.source == "default")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(nothing)"


def _choices(key: Key) -> tuple[str, ...]:
    return ("true", "false") if key.kind == "switch" else key.choices


def own_file(settings: Settings) -> Path:
    """The user's own settings file."""
    return settings.environment.config_home / "codeagent" / "settings.json"


def keep(settings: Settings, name: str, value: object) -> str:
    """Write a setting into the user's file; where it stands. Raises UsageFault."""
    return remember_value(own_file(settings), name, checked(KEYS[name], value))
