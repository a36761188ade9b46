"""Every row of the glob cases, with git, ripgrep or neither listing the files."""

from __future__ import annotations

import base64
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from codeagent.host.git import hardened_env
from tests.tools.desk import SLACK, Desk, cases

NOT_AS_ROOT = {"glob-unreadable-dir"}
ENGINES = ["programs", "python"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", cases("tools/glob"), ids=lambda row: row["id"])
async def test_glob(row: dict[str, Any], engine: str, tmp_path: Path) -> None:
    if row["id"] in NOT_AS_ROOT and os.geteuid() == 0:
        pytest.skip("permissions do not bind root")
    path = os.environ["PATH"] if engine == "programs" else ""
    desk = Desk(tmp_path / "project", tmp_path / "home", {"PATH": path, "HOME": str(tmp_path / "home")})
    laid_out(desk, row)
    given = {
        k: v.replace("{ROOTNAME}", desk.root.name) if isinstance(v, str) else v for k, v in row.get("args", {}).items()
    }
    assert given.pop("limit", 100) == 100
    outcome = await desk.call("glob", pattern=row["pattern"], **given)
    assert outcome.error == (row["error"] or ""), outcome.text
    outcome.says(row.get("says", []))
    assert outcome.seconds <= row.get("max_seconds", 60) * SLACK
    if row["error"]:
        return
    shown = [
        line for line in outcome.text.split("\n\n[")[0].splitlines() if not line.startswith(("No files match", "["))
    ]
    if outcome.text.startswith("No files match"):
        shown = []
    if "expect" in row:
        assert sorted(shown) == sorted(row["expect"]), outcome.text
    for each in row.get("expect_contains", []):
        assert each in shown
    if "ordered" in row:
        assert shown == row["ordered"]
    if row.get("ignored"):
        assert f"{len(row['ignored'])} more ignored" in outcome.text
    if row.get("truncated"):
        assert "newest are shown" in outcome.text
        assert f"{len(row['files'])} files match" in outcome.text


def laid_out(desk: Desk, row: dict[str, Any]) -> None:
    setup = row.get("setup", {})
    (desk.root.parent / "outside").mkdir()
    (desk.root.parent / "outside" / "secret").touch()
    for link, to in row.get("symlinks", {}).items():
        (desk.root / link).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / link).symlink_to(to)
    for name in row["files"]:
        desk.put(name, "x\n")
    if "raw_name_b64" in setup:
        os.close(os.open(os.fsencode(desk.root) + b"/" + base64.b64decode(setup["raw_name_b64"]), os.O_CREAT))
    if "gitignore" in setup:
        desk.put(".gitignore", setup["gitignore"])
    for name, text in setup.get("ignore_files", {}).items():
        desk.put(name, text)
    for name, mode in setup.get("mode", {}).items():
        (desk.root / name).chmod(int(mode, 8))
    if setup.get("git"):
        env = hardened_env({"PATH": os.environ["PATH"], "HOME": str(desk.home)})
        subprocess.run(["git", "init", "-q"], cwd=desk.root, env=env, check=True)
    now = time.time()
    for name, age in row.get("mtimes", {}).items():
        os.utime(desk.root / name, (now + age, now + age))
