"""Every row of the shell case file, with the table that the target is stated in."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.effects import Effect, Risk, ShellReading
from codeagent.core.rules import Anchors, match, parse
from codeagent.core.views import Shell

CASES = Path(__file__).parents[1] / "cases" / "security" / "shell_gate.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
JUDGED = [row for row in ROWS if "auto_ok" in row]
RULED = [row for row in ROWS if "rule" in row]


def command_of(row: dict[str, Any]) -> str:
    made = row.get("command_gen")
    return str(row["command"]) if made is None else made["unit"] * made["count"] + made["tail"]


def runs_unasked(reading: ShellReading) -> bool:
    return reading.plain and not reading.forbidden and all(part.readonly for part in reading.parts)


@pytest.mark.parametrize("row", [row for row in JUDGED if not row["auto_ok"]], ids=lambda row: row["id"])
def test_never_wrongly_allowed(row: dict[str, Any], read: Any) -> None:
    assert not runs_unasked(read(command_of(row))), row["why"]


@pytest.mark.parametrize("row", [row for row in JUDGED if row.get("requires")], ids=lambda row: row["id"])
def test_git_is_asked_where_its_configuration_may_run_programs(row: dict[str, Any], read: Any) -> None:
    assert not runs_unasked(read(command_of(row), inert=False))


def test_table(read: Any, capsys: pytest.CaptureFixture[str]) -> None:
    counted: Counter[tuple[str, bool]] = Counter()
    for row in JUDGED:
        kind = row["level"] if row["auto_ok"] else "must be asked"
        counted[kind, runs_unasked(read(command_of(row)))] += 1
    with capsys.disabled():
        print("\n  rows            asked  unasked")
        for kind in ("must be asked", "core", "bonus"):
            print(f"  {kind:<14} {counted[kind, False]:>6} {counted[kind, True]:>8}")
    assert counted["must be asked", True] == 0
    assert counted["core", True] >= 0.98 * (counted["core", True] + counted["core", False])


@pytest.mark.parametrize("row", RULED, ids=lambda row: row["id"])
def test_rule(row: dict[str, Any], read: Any, project: Path) -> None:
    command = row["command"]
    effect = Effect("bash", command, "Run it", Risk.HIGH, Shell(command), shell=read(command), cwd=str(project))
    anchors = Anchors(root=str(project), home=str(project.parent / "home"), cwd=str(project))
    assert match(parse(row["rule"], row["kind"], "test"), effect, anchors) == row["matches"], row["why"]
