"""What a person sees and changes of the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codeagent.core.errors import UsageFault
from codeagent.core.listed import ListedSetting
from codeagent.core.modes import mode_named
from codeagent.core.rules import parse
from codeagent.memory.layout import Layout
from codeagent.setting_changes import forget_value, remember_value
from codeagent.setting_files import Broken, read
from codeagent.setting_keys import KEYS, Key, checked, from_text

if TYPE_CHECKING:
    from codeagent.settings import Settings
    from codeagent.wiring.ground import Ground

Own = Literal["user", "local", "project"]
"""The layers of files that a person writes."""

RULES: Mapping[str, Literal["allow", "ask", "deny"]] = {
    "permissions.allow": "allow",
    "permissions.ask": "ask",
    "permissions.deny": "deny",
}


def listed(settings: Settings) -> Sequence[ListedSetting]:
    """Each setting that is no list, those that were set first."""
    file = str(own_file(settings))
    rows = [
        ListedSetting(
            key.name,
            key.in_force(settings[key.name]),
            place_of(settings, key.name),
            _choices(key),
            file,
            key.about,
            key.wanted,
            key.usual,
        )
        for key in KEYS.values()
        if key.kind != "texts"
    ]
    return sorted(rows, key=lambda row: row.source == "default")


def place_of(settings: Settings, name: str) -> str:
    """Where the value of a setting stands: `file:line`, a variable, `command line` or `default`."""
    source = settings.source(name)
    try:
        file = read(Path(source)) if Path(source).is_absolute() else None
    except Broken:  # since it was read
        file = None
    return f"{source}:{file.line_of_key(name)}" if file else source


def lists(settings: Settings, name: str) -> Sequence[tuple[str, str]]:
    """What a list holds, joined over all layers: (text, where it stands)."""
    if name not in RULES:
        return [(each.value, each.source) for each in settings.directories]
    return [(rule.text, rule.source) for rule in settings.rules if rule.kind == RULES[name]]


def shown(value: object) -> str:
    """A value in words."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "(nothing)"


def _choices(key: Key) -> tuple[str, ...]:
    return ("true", "false") if key.kind == "switch" else key.choices


def own_file(settings: Settings) -> Path:
    """The user's own settings file."""
    return settings.environment.config_home / "codeagent" / "settings.json"


def files(ground: Ground) -> Mapping[Own, Path]:
    """The files that a person writes, the strongest first."""
    layout = Layout(ground.project)
    return {"local": layout.local_settings, "project": layout.settings, "user": own_file(ground.settings)}


def keep(settings: Settings, name: str, value: object) -> str:
    """Write a setting into the user's file; where it stands. Raises UsageFault for what is no setting or no value."""
    if (key := KEYS.get(name)) is None or key.kind == "texts":
        from difflib import get_close_matches  # only for mistakes

        near = get_close_matches(name, KEYS, n=1)
        raise UsageFault(f"There is no setting {name!r} here." + (f" Did you mean {near[0]}?" if near else ""))
    try:
        fitting = from_text(key, value) if isinstance(value, str) else checked(key, value)
    except ValueError as fault:
        raise UsageFault(f"{name}: {fault}.") from None
    return remember_value(own_file(settings), name, fitting)


def put(ground: Ground, layer: Own, name: str, texts: Sequence[str]) -> str:
    """Write a setting, given as words, into a layer's file; where it stands. Raises UsageFault, and changed nothing."""
    key = KEYS[name]
    try:
        value = _list(name, texts) if key.kind == "texts" else from_text(key, " ".join(texts))
    except ValueError as fault:
        raise UsageFault(f"{name}: {fault}.") from None
    if layer != "user" and (key.own or (name == "permissions.defaultMode" and mode_named(str(value)) == "bypass")):
        raise UsageFault(f"{name}: a project cannot set this to {shown(value)}. For you alone: --user")
    path = files(ground)[layer]
    if layer == "user":
        remember_value(path, name, value)
    else:
        _made_ready(ground, path)
        remember_value(path, name, value, ground.rulebook.wrote)
    file = read(path)
    return f"{path}:{file.line_of_key(name)}" if file else str(path)


def take_out(ground: Ground, layer: Own, name: str) -> bool:
    """Take a setting out of a layer's file; False when it does not stand there. Raises UsageFault."""
    path = files(ground)[layer]
    if not path.exists():
        return False
    if layer == "user":
        return forget_value(path, name)
    return forget_value(path, name, ground.rulebook.wrote)


def _made_ready(ground: Ground, path: Path) -> None:
    try:
        Layout(ground.project).ensure()
    except OSError as fault:
        raise UsageFault(f"Nothing was stored: {path} cannot be written: {fault.strerror or fault}.") from None


def _list(name: str, texts: Sequence[str]) -> list[Any]:
    """A list out of words, or out of one that is a JSON list. Raises ValueError for what is no list of rules."""
    given: Any = list(texts)
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        try:
            given = json.loads(texts[0])
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"it begins like a JSON list and is none ({fault})") from None
    for text in given:
        if not isinstance(text, str) or not text.strip():
            raise ValueError("a list of texts is wanted")
        if name in RULES:
            parse(text, RULES[name], "command line")
    return list(given)
