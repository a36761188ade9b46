"""Places: every row of the case file, and what the file system can do between two looks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codeagent.host.paths import Places

CASES = Path(__file__).parents[1] / "cases" / "security" / "path_gate.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def build(tree: dict[str, Any], top: Path) -> None:
    def spot(name: str) -> Path:
        return Path(name.replace("{T}", str(top)))

    for name in tree["dirs"]:
        spot(name).mkdir(parents=True, exist_ok=True)
    for name in tree["files"]:
        spot(name).parent.mkdir(parents=True, exist_ok=True)
        spot(name).write_text("x")
    for name in tree["fifos"]:
        os.mkfifo(spot(name))
    for name, target in tree["symlinks"].items():
        spot(name).symlink_to(target.replace("{T}", str(top)))


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_case(row: dict[str, Any], tmp_path: Path) -> None:
    top = tmp_path.resolve()
    build(row["tree"], top)

    def put(text: str) -> str:
        return text.replace("{T}", str(top))

    places = Places(Path(put(row["root"])), Path(put(row["home"])), cwd=lambda: Path(put(row["cwd"])))
    touch = places.judge(put(row["request"]), row["op"])
    assert touch.place in {row["verdict"], *row.get("also_fine", [])}, f"{row['why']}: {touch}"
    assert touch.why or touch.place == "inside"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    for name in ("src", ".git", "sub/.vscode"):
        (root / name).mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "other").mkdir()
    return root


@pytest.fixture
def places(project: Path) -> Places:
    return Places(project, project.parent / "home")


@pytest.mark.parametrize(
    ("name", "access", "place"),
    [
        (".env", "read", "protected"),
        (".env.production", "read", "protected"),
        (".env.example", "write", "inside"),
        ("environment.py", "write", "inside"),
        ("src/key.pem", "read", "protected"),
        (".npmrc", "read", "protected"),
        (".git/HEAD", "read", "inside"),
        (".git/HEAD", "write", "protected"),
        (".agent/memory/topic.md", "write", "protected"),
        (".agent/memory/topic.md", "read", "inside"),
        ("sub/.vscode/tasks.json", "write", "protected"),
        (".gitignore", "write", "inside"),
        (".github/README.md", "write", "inside"),
        ("lefthook.yml", "write", "protected"),
        ("sitecustomize.py", "write", "protected"),
        ("~/notes.txt", "read", "outside"),
        ("~/.ssh/config", "read", "protected"),
        ("~/.config/git/config", "write", "protected"),
        ("x" * 5000, "read", "protected"),
        ("src/a\x1b[31m.py", "read", "protected"),
        ("/dev/null", "write", "protected"),
        (".g\u200cit/config", "write", "protected"),
        (".git./config", "write", "protected"),
        ("ｐ.py", "write", "inside"),
    ],
)
def test_places(places: Places, name: str, access: Any, place: str) -> None:
    assert places.judge(name, access).place == place


def test_protected_names_above_the_root_do_not_count(tmp_path: Path) -> None:
    root = tmp_path.resolve() / ".vscode" / "project"
    root.mkdir(parents=True)
    assert Places(root, tmp_path).judge("a.py", "write").place == "inside"


def test_further_roots_are_inside(places: Places, project: Path) -> None:
    other = project.parent / "other"
    assert places.judge(str(other / "a"), "read").place == "outside"
    assert Places(project, project.parent / "home", [other]).judge(str(other / "a"), "read").place == "inside"


def test_a_link_that_leads_to_itself_is_no_place_to_write(places: Places, project: Path) -> None:
    (project / "loop").symlink_to("loop")
    assert places.judge("loop", "write").place == "protected"


def test_vital_places(places: Places, project: Path) -> None:
    for name in ("/", ".", "..", "~", "src/..", str(project.parent.parent)):
        assert places.judge(name, "write").vital, name
    for name in ("src", "../other", "/etc"):
        assert not places.judge(name, "write").vital, name


def test_recheck_sees_a_link_swapped_in(places: Places, project: Path) -> None:
    touch = places.judge("src/new.py", "write")
    assert places.recheck(touch)
    (project / "src").rmdir()
    (project / "src").symlink_to(project.parent / "other")
    assert not places.recheck(touch)


def test_a_place_that_cannot_be_searched_is_still_judged(places: Places, project: Path) -> None:
    (project / "file").write_text("x")
    assert places.judge("file/below", "read").place == "inside"
    assert places.judge("n" * 300, "write").place == "inside"
