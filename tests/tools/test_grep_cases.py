"""Every row of the grep cases, with ripgrep and with the Python fallback: the same answers."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codeagent.host.git import hardened_env
from tests.tools.desk import SLACK, Desk, Outcome, cases

ENGINES = ["rg", "python"]
TOO_HARD_FOR_RE = {"grep-catastrophic-python", "grep-catastrophic-pcre"}
"""Backtracking engines cannot answer these; they are ended in time, and the answer says so."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", cases("tools/grep"), ids=lambda row: row["id"])
async def test_grep(row: dict[str, Any], engine: str, tmp_path: Path) -> None:
    path = os.environ["PATH"] if engine == "rg" else ""
    env = {"PATH": path, "HOME": str(tmp_path / "home")}
    for name, text in row.get("env", {}).items():
        config = tmp_path / "config"
        config.write_text(text + "\n")
        env[name] = str(config)
    desk = Desk(tmp_path / "project", tmp_path / "home", env)
    laid_out(desk, row)
    outcome = await desk.call("grep", **row["args"])
    assert outcome.seconds <= row.get("max_seconds", 60) * SLACK
    if row["id"] in TOO_HARD_FOR_RE and outcome.error:
        assert outcome.error == "regex_too_complex"
        return
    assert outcome.error in (row["error"] or "", row.get("or_error", "")), outcome.text
    outcome.says(row.get("says", []))
    assert len(outcome.text) <= row.get("max_chars", 10**9)
    if not outcome.error:
        judged(outcome, row["expect"], row["args"]["output_mode"], ordered=row.get("ordered_paths", False))


def laid_out(desk: Desk, row: dict[str, Any]) -> None:
    for name, what in row["files"].items():
        if isinstance(what, str):
            desk.put(name, what)
        elif "symlink" in what:
            (desk.root / name).symlink_to(what["symlink"])
        elif "fifo" in what:
            os.mkfifo(desk.root / name)
        elif "b64" in what:
            desk.put(name, base64.b64decode(what["b64"]))
        elif "gen" in what:
            desk.put(name, "".join(text * times for text, times in what["gen"]))
        else:
            desk.put(name, what["text"]).chmod(int(what["mode"], 8))
    if row.get("git"):
        env = hardened_env({"PATH": os.environ["PATH"], "HOME": str(desk.home)})
        subprocess.run(["git", "init", "-q"], cwd=desk.root, env=env, check=True)


def parsed(text: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Hits and context lines of a content answer."""
    hits: list[list[Any]] = []
    beside: list[list[Any]] = []
    heading = True
    path = ""
    for line in text.split("\n"):
        if heading:
            path, heading = line, False
        elif line == "":
            heading = True
        elif match := re.fullmatch(r"(\d+)([:-])(.*)", line, re.DOTALL):
            (hits if match[2] == ":" else beside).append([path, int(match[1]), match[3]])
    return hits, beside


def judged(outcome: Outcome, expect: dict[str, Any], mode: str, *, ordered: bool) -> None:
    hits, beside = parsed(outcome.text)
    if "matches" in expect:
        assert (hits if ordered else sorted(hits)) == (expect["matches"] if ordered else sorted(expect["matches"]))
        if not hits:
            assert "No matches" in outcome.text
    if "context" in expect:
        assert sorted(beside) == sorted(expect["context"])
    if "counts" in expect:
        shown = dict(line.rsplit(":", 1) for line in outcome.text.split("\n\n")[0].splitlines())
        assert {path: int(count) for path, count in shown.items()} == expect["counts"]
    for path, number in expect.get("lines_at", []):
        assert any(hit[:2] == [path, number] for hit in hits)
    if "total" in expect:
        assert f"{expect['total']} matching line" in outcome.text
    if "truncated" in expect:
        assert ("more: go on with offset" in outcome.text) == expect["truncated"]
    if "files" in expect and mode == "files":
        assert sorted(outcome.text.split("\n\n")[0].splitlines()) == sorted(expect["files"])
