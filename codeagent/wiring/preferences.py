"""What a person sees and changes of the settings, and what is known of the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.listed import ListedSetting
from codeagent.fronts import present
from codeagent.setting_files import remember_value
from codeagent.setting_keys import KEYS, Key, checked

if TYPE_CHECKING:
    from codeagent.settings import Settings
    from codeagent.wiring.ground import Ground


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


def memory(ground: Ground, session: str) -> str:
    """Guideline files and the index of what was remembered."""
    files = [f"  {each.path}  {present.size(len(each.text.encode()))}" for each in ground.guidelines.files]
    index = ground.notebook(session).index().strip() if ground.settings["memory"] else ""
    return "\n".join(
        (
            "Guidelines that the model is given:",
            *(files or ["  none; write what it should know into AGENTS.md"]),
            "",
            "Remembered from earlier sessions:",
            index or "nothing yet",
        )
    )
