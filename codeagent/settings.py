"""Settings from all layers, merged, each value with where it came from; the only reader of the environment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from codeagent.core.modes import mode_named
from codeagent.memory.layout import Layout
from codeagent.setting_environment import Environment
from codeagent.setting_files import Broken, SettingsFile, Stamp, read, stamp
from codeagent.setting_keys import GROUPS, KEYS, PRECEDENCE, Key, Layer, checked, from_text, shown

__all__ = ["SOURCES", "Environment", "Problem", "RuleText", "Settings", "Sourced"]

MANAGED = Path(
    "/Library/Application Support/codeagent/managed-settings.json"
    if sys.platform == "darwin"
    else "/etc/codeagent/managed-settings.json"
)
"""Settings that an administrator put in force for all users."""

SOURCES = frozenset({"user", "project", "local"})
"""Layers that `--setting-sources` can choose from; what an administrator set always counts."""

_SHARED: tuple[Layer, ...] = ("project", "local")
"""Layers that lie in the project, and may have come with it."""

_FOREIGN = ".claude"
"""Another tool's directory, of which the permission rules are understood."""


class Sourced(Struct, frozen=True):
    """A value and its origin: a file, `command line`, an environment variable or `default`."""

    value: Any
    source: str


class RuleText(Struct, frozen=True):
    """A permission rule as it was written. `source` is `file:line`; `directory` is what `/x` in it starts from."""

    kind: Literal["allow", "ask", "deny"]
    text: str
    source: str
    directory: str


class Problem(Struct, frozen=True):
    """Something wrong, in words. `broken` means that a whole file could not be used."""

    text: str
    broken: bool = False


Believed = Callable[[Mapping[str, str]], bool]
"""Says of files in the project, by path with the sha256 of what was read of them, whether all are trusted."""


class Settings(Struct, frozen=True):
    """All settings in force.

    `values` has every key of `setting_keys.KEYS` that is no list. `rules` are all permission rules that count.
    `claims` says in words what the project's files want and do not get until the directory is trusted. `strict` is
    True when a file was broken: then no file's allow rules count, and its mode is `default`, since a deny may be lost.
    `stamps` says of each file how it was when it was read, `brought` gives the sha256 of what was read of each file in
    the project, by path.
    """

    values: Mapping[str, Sourced]
    rules: tuple[RuleText, ...]
    directories: tuple[Sourced, ...]
    problems: tuple[Problem, ...]
    claims: tuple[str, ...]
    environment: Environment
    strict: bool = False
    stamps: tuple[tuple[Path, Stamp], ...] = ()
    brought: Mapping[str, str] = {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def source(self, name: str) -> str:
        """Where the value of this key came from."""
        return self.values[name].source

    @property
    def stale(self) -> bool:
        """Whether a settings file changed since: load again, so that a new deny counts at once. Seven `stat`."""
        return any(stamp(path) != known for path, known in self.stamps)

    @property
    def mode(self) -> str:
        """The permission mode to start in, by codeagent's name of it."""
        return mode_named(self["permissions.defaultMode"])

    @property
    def base_url(self) -> str:
        """The address of the model, empty for the provider's own. Never from a project."""
        return str(self["baseUrl"])

    @classmethod
    def load(
        cls,
        project: Path,
        home: Path,
        environ: Mapping[str, str],
        overlay: Mapping[str, Any] | None = None,
        trusted: bool | Believed = False,
        managed: Path = MANAGED,
        sources: frozenset[str] = SOURCES,
    ) -> Settings:
        """Read and merge all layers. Never fails: what cannot be used is in `problems`.

        `overlay` is what the command line says, nested or with dotted keys. Unless `trusted`, files in the project
        only add ask and deny rules; asked of the digests in `brought`, it judges the very bytes that count then.
        `sources` are the layers of files that count.
        """
        merge = _Merge(Environment.of(environ, home), project, trusted)
        merge.read_files(home, managed, sources)
        merge.take_variables(environ)
        merge.take("command line", "command line", overlay or {}, None)
        return merge.settings()


class _Merge:
    """The layers while they are read: per layer the values, and all rules with theirs."""

    def __init__(self, environment: Environment, project: Path, trusted: bool | Believed) -> None:
        self.environment = environment
        self.project = project
        self._believed: Believed = trusted if callable(trusted) else lambda _: trusted
        self.trusted = False
        self.brought: dict[str, str] = {}
        self.values: dict[str, dict[Layer, Sourced]] = {}
        self.rules: list[tuple[Layer, RuleText]] = []
        self.directories: list[Sourced] = []
        self.problems: list[Problem] = []
        self.claims: list[str] = []
        self.stamps: dict[Path, Stamp] = {}

    def read_files(self, home: Path, managed: Path, sources: frozenset[str]) -> None:
        layout = Layout(self.project)
        own: list[tuple[Layer, Path, bool]] = [
            ("managed", managed, False),
            ("user", self.environment.config_home / "codeagent" / "settings.json", False),
            ("user", home / _FOREIGN / "settings.json", True),
            ("project", layout.settings, False),
            ("local", layout.local_settings, False),
            ("project", self.project / _FOREIGN / "settings.json", True),
            ("local", self.project / _FOREIGN / "settings.local.json", True),
        ]
        files: list[tuple[Layer, SettingsFile, bool]] = []
        for layer, path, foreign in own:
            if path in self.stamps or (layer != "managed" and layer not in sources):  # the home as a project
                continue
            if file := self._read(layer, path):
                files.append((layer, file, foreign))
        self.trusted = self._believed(self.brought)
        for layer, file, foreign in files:
            self.take(layer, str(file.path), _permissions(file.content) if foreign else file.content, file)

    def _read(self, layer: Layer, path: Path) -> SettingsFile | None:
        self.stamps[path] = stamp(path)
        try:
            file = read(path)
        except Broken as fault:
            self.problems.append(Problem(f"{fault} It was left as it is; until it is mended no rule allows.", True))
            file, digest = None, fault.digest
        else:
            digest = file.digest if file else ""
        if layer in _SHARED and digest:
            self.brought[str(path)] = digest
        return file

    def take_variables(self, environ: Mapping[str, str]) -> None:
        names = [(key, key.variable) for key in KEYS.values() if key.kind != "texts"]
        for key, name in [(KEYS["model"], "ANTHROPIC_MODEL"), (KEYS["baseUrl"], "ANTHROPIC_BASE_URL"), *names]:
            text = environ.get(name, "").strip()
            if text:
                try:
                    self._put("environment", name, key, from_text(key, text))
                except ValueError as fault:
                    self.problems.append(Problem(f"{name}: {fault}."))

    def take(self, layer: Layer, source: str, content: Mapping[str, Any], file: SettingsFile | None) -> None:
        """Take one layer's object; what does not fit is reported, the rest counts."""
        for name, value in _flat(content):
            key = KEYS.get(name)
            if key is None:
                self.problems.append(Problem(f"{source}: {_unknown(name)}"))
                continue
            try:
                checked(key, value)
            except ValueError as fault:
                self.problems.append(Problem(f"{source}: {name}: {fault}."))
                continue
            if key.kind == "texts":
                self._join(layer, source, name.rpartition(".")[2], value, file)
            else:
                self._put(layer, source, key, value)

    def _put(self, layer: Layer, source: str, key: Key, value: Any) -> None:
        if layer in _SHARED:
            if key.own or (key.name == "permissions.defaultMode" and mode_named(value) == "bypass"):
                self.problems.append(Problem(f"{source}: {key.name}: a project cannot set this to {shown(value)}."))
                return
            self.claims.append(f"set {key.name} to {shown(value)} ({source})")
            if not self.trusted:
                return
        self.values.setdefault(key.name, {})[layer] = Sourced(value, source)

    def _join(self, layer: Layer, source: str, name: str, texts: list[Any], file: SettingsFile | None) -> None:
        for number, text in enumerate(texts):
            where = f"{source}:{file.line_of(name, text)}" if file and isinstance(text, str) else source
            if not isinstance(text, str) or not text.strip():
                told = f"{where}: permissions.{name}[{number}]: {shown(text)} came, a text is wanted."
                self.problems.append(Problem(told))
            elif name == "additionalDirectories":
                if self._admitted(layer, f"work in {shown(text)} ({where})"):
                    self.directories.append(Sourced(text, where))
            elif name != "allow" or self._admitted(layer, f"allow {text} ({where})"):
                kind: Any = name
                self.rules.append((layer, RuleText(kind, text, where, str(self._anchor(layer, file)))))

    def _admitted(self, layer: Layer, claim: str) -> bool:
        if layer not in _SHARED:
            return True
        self.claims.append(claim)
        return self.trusted

    def _anchor(self, layer: Layer, file: SettingsFile | None) -> Path:
        """The directory that a leading `/` in a rule means."""
        return self.project if file is None or layer in _SHARED else file.path.parent

    def settings(self) -> Settings:
        strict = any(problem.broken for problem in self.problems)
        values = {key.name: self._strongest(key, strict) for key in KEYS.values() if key.kind != "texts"}
        kept = (rule for layer, rule in self.rules if rule.kind != "allow" or not strict or layer == "command line")
        return Settings(
            values=values,
            rules=tuple(kept),
            directories=tuple(self.directories),
            problems=tuple(self.problems),
            claims=tuple(self.claims),
            environment=self.environment,
            strict=strict,
            stamps=tuple(self.stamps.items()),
            brought=self.brought,
        )

    def _strongest(self, key: Key, strict: bool) -> Sourced:
        found = self.values.get(key.name, {})
        for layer in PRECEDENCE:
            cautious = strict and key.name == "permissions.defaultMode" and layer != "command line"
            if layer in found and not cautious:
                return found[layer]
        return Sourced(key.default, "default")


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names with dots instead of objects within the object."""
    for name, value in content.items():
        if name in GROUPS and isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", held) for inner, held in value.items())
        elif not name.startswith("$"):  # "$schema" and the like are for editors
            yield name, value


def _permissions(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rules and directories of another tool's settings, and nothing else of them."""
    found = content.get("permissions")
    if not isinstance(found, Mapping):
        return {}
    known = ("allow", "ask", "deny", "additionalDirectories")
    return {"permissions": {name: found[name] for name in known if name in found}}


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # only on the way to a complaint

    if name in GROUPS:
        return f"{name}: an object is wanted."
    near = get_close_matches(name, KEYS, n=1)
    return f"there is no setting {shown(name)}" + (f"; did you mean {near[0]}?" if near else ".")
