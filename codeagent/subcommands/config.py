"""`codeagent config`: the settings in force with where each comes from; one read, set or taken out."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from codeagent.core.clean import clean, clean_line
from codeagent.flags import Mistake, Parser, nearest, unknown_act

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground
    from codeagent.wiring.preferences import Own

EXAMPLES = """\
commands:
  list              all settings, those that were set first (also without a word)
  get KEY           the value that counts; on standard error what it means and may be
  set KEY VALUE     write it into a file: yours, or this project's
  unset KEY         take it out of the file again
  path              the files, the strongest first

examples:
  codeagent config                              values, each with file and line, flag, variable or meaning
  codeagent config get model
  codeagent config set theme light              in your own file, for all projects
  codeagent config set maxTurns 80 --local      for you in this project; --project for all who work on it
  codeagent config set permissions.deny 'Read(.env)' 'Bash(git push:*)' --project
  codeagent config --json                       for a script

A file that is broken is named, and never written over.
"""

ACTS: dict[str, tuple[str, ...]] = {
    "list": (),
    "get": ("key",),
    "set": ("key", "value"),
    "unset": ("key",),
    "path": (),
}
"""Act -> the kinds of words that it takes."""


def parser(act: str = "") -> Parser:
    """The parser of `codeagent config ACT`."""
    made = Parser(
        "codeagent config",
        usage="codeagent config [COMMAND] [flags]",
        description="Settings: what is in force, where it comes from, and how to change it.",
        epilog=EXAMPLES,
        takes=(tuple(ACTS), *ACTS.get(act, ())),
    )
    where = made.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="set, unset: in your own file (usual)")
    where.add_argument("--local", action="store_true", help="set, unset: for you in this project")
    where.add_argument("--project", action="store_true", help="set, unset: for all who work on this project")
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--cwd", default="", metavar="DIR", help="of the project in this directory")
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """List, read, set or take out."""
    asked, words = parser().words(argv)
    act, *rest = words or ["list"]
    if act not in ACTS:
        raise unknown_act("codeagent config", act, ACTS)
    name = _key(act, rest)
    ground = _ground(asked, environ)
    match act:
        case "get":
            return _get(ground, name, as_json=asked.json)
        case "set":
            place = _set(ground, _layer(asked), name, rest[1:])
            return _told(_ground(asked, environ), _layer(asked), name, place)
        case "unset":
            return _unset(ground, _layer(asked), name)
        case "path":
            return _paths(ground, as_json=asked.json)
        case _:
            return _list(ground, as_json=asked.json)


def _ground(asked: Namespace, environ: Mapping[str, str]) -> Ground:
    from codeagent.options import Options
    from codeagent.wiring.ground import Ground

    return Ground(Options(cwd=asked.cwd), environ, Path.home())


def _key(act: str, rest: Sequence[str]) -> str:
    """The setting that is meant, empty where none is wanted. Raises Mistake that names the nearest."""
    wanted = {"get": "KEY", "unset": "KEY", "set": "KEY VALUE"}.get(act, "")
    few, most = len(wanted.split()), 99 if act == "set" else len(wanted.split())
    if not few <= len(rest) <= most:
        raise Mistake(f"Write: codeagent config {act} {wanted}".rstrip() + ". All settings: codeagent config")
    if not rest:
        return ""
    from codeagent.setting_keys import KEYS

    if rest[0] not in KEYS:
        same = [name for name in KEYS if name.lower() == rest[0].lower()]
        near = same[0] if same else nearest(rest[0], KEYS)
        hint = f" Did you mean {near}?" if near else " All settings: codeagent config"
        raise Mistake(f"There is no setting {clean_line(rest[0])!r}.{hint}")
    if act == "set" and KEYS[rest[0]].kind != "texts" and len(rest) > 2:
        raise Mistake(f"{rest[0]} takes one value; one with blanks stands in quotes.")
    return rest[0]


def _layer(asked: Namespace) -> Own:
    return "local" if asked.local else "project" if asked.project else "user"


def _rows(ground: Ground) -> list[dict[str, Any]]:
    """All settings for a script."""
    from codeagent.setting_keys import KEYS
    from codeagent.wiring import preferences

    settings, rows = ground.settings, []
    for key in KEYS.values():
        row: dict[str, Any] = {"name": key.name}
        if key.kind == "texts":
            row["value"] = [{"value": text, "source": place} for text, place in preferences.lists(settings, key.name)]
        else:
            row |= {"value": settings[key.name], "source": preferences.place_of(settings, key.name)}
        rows.append({**row, "default": key.default, "wanted": key.wanted, "about": key.about, "usual": key.usual})
    return rows


def _list(ground: Ground, *, as_json: bool) -> int:
    from codeagent.setting_keys import KEYS
    from codeagent.wiring import preferences

    settings = ground.settings
    problems = [problem.text for problem in settings.problems]
    claims = [] if ground.trusted else list(settings.claims)
    if as_json:
        told = {"settings": _rows(ground), "problems": problems, "not_in_force": claims}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        return 0
    rows = []
    for each in preferences.listed(settings):
        usual = each.source == "default"
        rows.append(
            (each.name, f"{each.value} (default)" if usual else each.value, each.about if usual else each.source)
        )
    for name in (*preferences.RULES, "permissions.additionalDirectories"):
        held = [(name, text, place) for text, place in preferences.lists(settings, name)]
        rows += held or [(name, "none (default)", KEYS[name].about)]
    wide = max(len(name) for name, _, _ in rows)
    long = min(40, max(len(value) for _, value, _ in rows))
    for name, value, place in rows:
        sys.stdout.write(clean_line(f"{name:<{wide}}  {value:<{long}}  {place}") + "\n")
    for words in problems:
        sys.stdout.write(f"wrong: {clean_line(words)}\n")
    for words in claims:
        sys.stdout.write(f"not in force until you trust this directory (codeagent trust): {clean_line(words)}\n")
    return 0


def _get(ground: Ground, name: str, *, as_json: bool) -> int:
    from codeagent.setting_keys import KEYS

    row = next(row for row in _rows(ground) if row["name"] == name)
    if as_json:
        sys.stdout.write(json.dumps(row) + "\n")
    elif isinstance(row["value"], list):
        sys.stdout.writelines(clean(each["value"]) + "\n" for each in row["value"])
    else:
        value = row["value"]
        sys.stdout.write(clean(str(value).lower() if isinstance(value, bool) else str(value)) + "\n")
    if not as_json:  # beside the value, which alone is on standard output
        key = KEYS[name]
        told = f"{name}: {key.about}\n  wanted: {key.wanted}. Default: {key.usual}"
        if not isinstance(row["value"], list):
            told += f"\n  in force: {key.in_force(row['value'])} ({row['source']})"
        sys.stderr.write(clean(told) + "\n")
    return 0


def _set(ground: Ground, layer: Own, name: str, texts: Sequence[str]) -> str:
    """Write it; where it stands."""
    from codeagent.wiring import preferences

    place = preferences.put(ground, layer, name, texts)
    sys.stdout.write(f"{name} is {clean_line(' '.join(texts))} now. It stands in {clean_line(place)}\n")
    return place


def _told(after: Ground, layer: Own, name: str, place: str) -> int:
    """Say what keeps a setting that stands at `place` from counting."""
    from codeagent.setting_keys import KEYS
    from codeagent.wiring import preferences

    counts = preferences.place_of(after.settings, name) if KEYS[name].kind != "texts" else place
    if layer != "user" and not after.trusted:
        sys.stdout.write("Not in force yet: this directory is not trusted. To see what it brings: codeagent trust\n")
    elif counts != place:
        value = clean_line(preferences.shown(after.settings[name]))
        sys.stdout.write(f"Not in force: {clean_line(counts)} says {value}, and that counts more.\n")
    return 0


def _unset(ground: Ground, layer: Own, name: str) -> int:
    from codeagent.wiring import preferences

    path = clean_line(str(preferences.files(ground)[layer]))
    if not preferences.take_out(ground, layer, name):
        raise Mistake(f"{name} does not stand in {path}. Where it stands: codeagent config")
    sys.stdout.write(f"{name} was taken out of {path}\n")
    return 0


def _paths(ground: Ground, *, as_json: bool) -> int:
    from codeagent.settings import MANAGED
    from codeagent.wiring import preferences

    found = cast("dict[str, Path]", {"managed": MANAGED, **preferences.files(ground)})
    if as_json:
        rows = [{"layer": layer, "path": str(path), "exists": path.exists()} for layer, path in found.items()]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return 0
    for layer, path in found.items():
        there = "" if path.exists() else "  (not there)"
        sys.stdout.write(f"{layer:<8} {clean_line(str(path))}{there}\n")
    return 0
