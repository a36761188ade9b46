"""The effect of a call that nobody makes: what its tool would reach, for explanations and checks. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from codeagent.core.effects import Effect, Risk, Touch
from codeagent.core.rule_text import folded
from codeagent.core.views import Plain, Shell
from codeagent.host.paths import Places
from codeagent.wiring.tooling import reader

MAIN = {"bash": "command", "webfetch": "url", "websearch": "query", "grep": "path", "glob": "pattern"}
"""The field that a text alone means, where it is not `file_path`."""

_READS = {"read": "file_path", "notebookread": "notebook_path", "grep": "path", "glob": "path", "ls": "path"}
_WRITES = {"edit": "file_path", "write": "file_path", "multiedit": "file_path", "notebookedit": "notebook_path"}
_FREE = ("todo", "todowrite", "askuser", "askuserquestion", "presentplan", "exitplanmode", "task", "agent")


def input_of(tool: str, text: str) -> dict[str, Any]:
    """A text as that tool's input."""
    return {MAIN.get(folded(tool), "file_path"): text}


class Sketch:
    """Places and reads calls for one project. Directories are absolute; `env` is what git is asked with."""

    def __init__(self, root: Path, home: Path, cwd: Path, env: Mapping[str, str], extra: Sequence[Path] = ()) -> None:
        self._cwd = cwd
        self._places = Places(root, home, extra, lambda: cwd)
        self._read_line = reader(self._places, env)

    def effect(self, tool: str, given: Mapping[str, Any]) -> Effect:
        """What this call would do. Fields that are missing or no texts count as empty."""
        name = folded(tool)
        if name == "bash":
            return self._command(_text(given, "command"), _text(given, "cwd"))
        if name in _READS:
            return self._reading(name, given)
        if name in _WRITES:
            touch = self._places.judge(_text(given, _WRITES[name]) or _text(given, "path"), "write")
            kind = "write" if name == "write" else "edit"
            risk = Risk.MEDIUM if touch.place == "inside" else Risk.HIGH
            return self._effect(kind, touch.named, f"{kind.capitalize()} {touch.named}", risk, (touch,))
        if name in ("webfetch", "websearch"):
            url = _text(given, "url")
            label = url or _text(given, "query")
            return self._effect(name, label, f"Fetch {label}", Risk.HIGH, host=_host(url) or "the web")
        if name in _FREE:
            return self._effect(name, "", f"Use {tool}", Risk.LOW, free=True)
        if name == "memory":
            writes = _text(given, "action") in ("save", "delete")
            label = f"{_text(given, 'action')} {_text(given, 'name') or _text(given, 'query')}".strip()
            touches = (Touch(str(self._cwd / ".agent/memory"), "write", "inside"),) if writes else ()
            return self._effect(name, label, f"Memory: {label}", Risk.MEDIUM if writes else Risk.LOW, touches)
        return self._effect(tool, "", f"Use {tool}", Risk.HIGH)

    def _command(self, command: str, cwd: str) -> Effect:
        touches: tuple[Touch, ...] = ()
        where = self._cwd
        if cwd:
            moved = self._places.judge(cwd, "read")
            where = Path(moved.path)
            touches = () if moved.place == "inside" else (moved,)
        reading = self._read_line(command, str(where))
        risk = max((part.risk for part in reading.parts), default=Risk.HIGH) if reading.plain else Risk.HIGH
        return Effect(
            "bash", command, f"Run {command}", risk, Shell(command, str(where)), touches, reading, "", str(where)
        )

    def _reading(self, name: str, given: Mapping[str, Any]) -> Effect:
        path = _text(given, _READS[name]) or _text(given, "file_path") or _text(given, "path") or "."
        touches = [self._places.judge(path, "read")]
        pattern = _text(given, "pattern")
        if name == "glob" and (pattern.startswith(("/", "~")) or ".." in pattern.split("/")):
            fixed = pattern.split("/")
            magic = next((at for at, part in enumerate(fixed) if any(sign in part for sign in "*?[{")), len(fixed))
            touches.append(self._places.judge("/".join(fixed[:magic]) or "/", "read"))
        kind = name if name in ("grep", "glob") else "read"
        label = f"{pattern} in {path}" if pattern else path
        return self._effect(kind, label, f"{kind.capitalize()} {label}", Risk.LOW, tuple(touches))

    def _effect(
        self,
        tool: str,
        label: str,
        title: str,
        risk: Risk,
        touches: tuple[Touch, ...] = (),
        *,
        host: str = "",
        free: bool = False,
    ) -> Effect:
        return Effect(tool, label, title, risk, Plain(title), touches, host=host, cwd=str(self._cwd), free=free)


def worst_place(effect: Effect) -> Literal["inside", "outside", "protected"] | None:
    """The worst place that the effect reaches; None when it names no path."""
    touches = effect.touches + (effect.shell.touches if effect.shell else ())
    places = {touch.place for touch in touches}
    return next((place for place in ("protected", "outside", "inside") if place in places), None)


def _text(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field, "")
    return value if isinstance(value, str) else ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
