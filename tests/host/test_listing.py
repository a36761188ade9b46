"""Every row of the ignore cases, listed by git, by ripgrep and by our own walk; and laws of the listing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.host.git import hardened_env
from codeagent.host.listing import Lister

CASES = Path(__file__).parent.parent / "cases" / "tools" / "ignore.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text().splitlines()]
NEEDS_GIT = {"@global", ".git/info/exclude"}


def env_for(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}


def git(root: Path, home: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, env=hardened_env(env_for(home)), capture_output=True, check=True)
    return os.fsdecode(done.stdout)


def laid_out(row: dict[str, Any], root: Path, home: Path, *, repository: bool) -> None:
    root.mkdir(parents=True)
    home.mkdir()
    if repository:
        git(root, home, "init", "-q")
    for link, to in row.get("symlinks", {}).items():
        (root / link).symlink_to(to)
    for name in row["files"]:
        if name not in row.get("symlinks", {}):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x\n")
    for name, text in row["ignore"].items():
        path = (
            home / ".config/git/ignore"
            if name == "@global"
            else root.parent / ".gitignore"
            if name == "@above"
            else root / name
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if repository and row.get("nested_repo"):
        git(root / row["nested_repo"], home, "init", "-q")
    for name in row.get("tracked", []) if repository else []:
        git(root, home, "add", "-f", name)


def acceptable(row: dict[str, Any], paths: list[str]) -> bool:
    prefix = row["cwd"] + "/" if row.get("cwd") else ""
    kept = {prefix + path for path in paths} & {*row["files"], *row.get("symlinks", {})}
    return sorted(kept) in [sorted(each) for each in (row["expect"], *row.get("accept", []))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
async def test_git_lists(row: dict[str, Any], tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    laid_out(row, root, home, repository=not row.get("no_repo"))
    listed = await Lister(root, env_for(home)).files(root / row.get("cwd", ""))
    assert acceptable(row, listed.paths), listed.paths


OUTSIDE = [
    row for row in ROWS if not NEEDS_GIT & set(row["ignore"]) and not row.get("tracked") and not row.get("nested_repo")
]


@pytest.mark.parametrize("row", OUTSIDE, ids=lambda row: row["id"])
async def test_others_list_the_same_outside_of_git(row: dict[str, Any], tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    laid_out(row, root, home, repository=False)
    folder = root / row.get("cwd", "")
    walked = await Lister(root, env_for(home) | {"PATH": ""}).files(folder)
    assert acceptable(row, walked.paths), walked.paths
    by_rg = await Lister(root, env_for(home)).files(folder)
    if row["id"] == "ignore-rgignore":  # ripgrep before 14 reads .rgignore whatever it is told
        row = row | {"accept": [*row["accept"], ["a", "c"]]}
    assert acceptable(row, by_rg.paths), by_rg.paths


NAMES = st.sampled_from(["a", "b", "ab", "x.log", "build", ".env", "a b", "-n"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
RULES = st.sampled_from(
    ["*.log", "build/", "/a", "!b", "a/*", "**/ab", "a/**", "!x.log", "?", "[ab]b", "*", "!*/", "b/a"]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    paths=st.lists(PATHS, min_size=1, max_size=8), rules=st.lists(RULES, max_size=4), nested=st.lists(RULES, max_size=2)
)
async def test_own_walk_equals_git(
    paths: list[str], rules: list[str], nested: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("law")
    root, home = base / "project", base / "home"
    root.mkdir()
    home.mkdir()
    for name in paths:
        try:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        except OSError:
            continue  # a name is a file here and a folder there
    (root / ".gitignore").write_text("".join(rule + "\n" for rule in rules))
    if (root / "a").is_dir():
        (root / "a" / ".gitignore").write_text("".join(rule + "\n" for rule in nested))
    walked = await Lister(root, env_for(home) | {"PATH": ""}).files(root)
    git(root, home, "init", "-q")
    asked = git(root, home, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    assert sorted(walked.paths) == sorted(name for name in asked if name)


async def test_what_is_left_out_and_lifted(tmp_path: Path) -> None:
    for repository in (True, False):
        base = tmp_path / str(repository)
        row = {"files": ["out/a", "out/d/b", "c"], "ignore": {".gitignore": "out/\n"}}
        laid_out(row, base / "project", base / "home", repository=repository)
        lister = Lister(base / "project", env_for(base / "home"))
        assert sorted(await lister.left_out(base / "project")) == ["out/a", "out/d/b"]
        assert await lister.lifted(base / "project/out/d")
        assert not await lister.lifted(base / "project")
