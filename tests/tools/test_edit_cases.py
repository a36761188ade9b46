"""Every row of the edit cases: plan, permit, run, on real files."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.events import Saw
from codeagent.host.files import digest
from tests.tools.desk import SLACK, Desk, Outcome, cases, content

AS_ROOT = os.geteuid() == 0
RUNGS = {
    "eof": "newline at the end",
    "lineno": "line numbers",
    "typographic": "typographic",
    "trailing": "trailing blanks",
    "indent": "indentation",
}
ELSEWHERE = {
    "edit-fs-crash": "test_edit.py kills a writer",
    "edit-fs-disk-full": "test_edit.py fills a file system quota (RLIMIT_FSIZE)",
}
NEEDS_USER = {"edit-fs-readonly", "edit-fs-readonly-dir"}
ROWS = [row for row in cases("tools/edit") if row["id"] not in ELSEWHERE]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
async def test_edit(row: dict[str, Any], tmp_path: Path) -> None:
    if row["id"] in NEEDS_USER and AS_ROOT:
        pytest.skip("permissions do not bind root")
    desk = Desk(tmp_path / "project", tmp_path / "home")
    before, fs = content(row, "before"), row.get("fs") or {}
    name = row.get("file", "f.txt")
    target = _laid_out(desk, name, before, fs)
    named = fs.get("edit_path") or (str(target) if fs.get("edit_abs_outside") or fs.get("sibling_prefix") else name)
    if fs.get("file_as_parent"):
        desk.put("f.txt", "plain\n")
        named, target = "f.txt/below", desk.root / "f.txt"
        before = b"plain\n"
    if fs.get("dir_mode"):
        target.parent.chmod(int(fs["dir_mode"], 8))
    if before is not None and (row.get("state") or {}).get("read", True):
        desk.workspace.seen.note(Saw(os.path.realpath(target), digest(before)))
    _interfered(target, before, row.get("state") or {})
    start = target.read_bytes() if target.is_file() else None
    old_mask = os.umask(int(fs.get("umask", "0022"), 8))
    try:
        outcome = await _called(desk, named, row)
    finally:
        os.umask(old_mask)
    _judged(row, outcome, target, start)
    if row["error"] is None:
        await _continued(desk, named, target, row)
        _checked(desk, target, row.get("check") or {}, outcome)


def _laid_out(desk: Desk, name: str, before: bytes | None, fs: dict[str, Any]) -> Path:
    if fs.get("mkdir"):
        (desk.root / fs["mkdir"]).mkdir()
    if fs.get("mkfifo"):
        os.mkfifo(desk.root / fs["mkfifo"])
    if fs.get("edit_abs_outside"):
        name = str(desk.home / "out.txt")
    if fs.get("sibling_prefix"):
        name = str(desk.root) + "-other/f.txt"
    if fs.get("chain"):
        *links, name = fs["chain"]
        for link, to in zip(links, [*links[1:], name], strict=True):
            (desk.root / link).symlink_to(to)
    if fs.get("symlink"):
        name = fs.get("target", name)
        (desk.root / fs["symlink"]).symlink_to(name)
    target = desk.root / name
    if before is not None:
        target = desk.put(name, before)
    if fs.get("hardlink"):
        os.link(target, desk.root / fs["hardlink"])
    if fs.get("mode"):
        target.chmod(int(fs["mode"], 8))
    return target


def _interfered(target: Path, before: bytes | None, state: dict[str, Any]) -> None:
    """What happens to the file between read and edit."""
    if "changed_to" in state:
        times = target.stat()
        target.write_text(state["changed_to"])
        if state.get("keep_mtime"):
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    if state.get("touched"):
        os.utime(target, (2_000_000_000, 2_000_000_000))
    if state.get("mtime_set_back"):
        os.utime(target, (1_000_000_000, 1_000_000_000))
    if state.get("deleted"):
        target.unlink()


async def _called(desk: Desk, named: str, row: dict[str, Any]) -> Outcome:
    if row.get("tool") == "write":
        return await desk.call("write", file_path=named, content=row["content"])
    edits = row["edits"]
    given = edits[0] if len(edits) == 1 else {"edits": edits}
    first = desk.call("edit", file_path=named, **given)
    parallel = (row.get("state") or {}).get("parallel")
    if not parallel:
        return await first
    one, two = await asyncio.gather(first, desk.call("edit", file_path=named, **parallel[0]))
    assert (one.error, two.error) == ("", ""), two.text
    assert (desk.root / named).read_text() == row["state"]["after_parallel"]
    return one


def _judged(row: dict[str, Any], outcome: Outcome, target: Path, start: bytes | None) -> None:
    assert outcome.error == (row["error"] or ""), outcome.text
    outcome.says(row.get("says", []))
    if row.get("failed_edit"):
        assert f"edit {row['failed_edit']} of {len(row['edits'])}" in outcome.text
    if row["error"]:
        assert (target.read_bytes() if target.is_file() else None) == start
        return
    after = content({k: v for k, v in row.items() if k != "gen"}, "after")
    if after is not None and not (row.get("state") or {}).get("parallel"):
        assert target.read_bytes() == after
    assert outcome.result is not None
    assert outcome.effect is not None
    if "parallel" not in (row.get("state") or {}):
        assert outcome.result.after == digest(target.read_bytes())
    if row["level"] != "choice" and row.get("tool") != "write":
        rung = RUNGS.get(row.get("match", "exact"))
        assert (rung or "matched") in outcome.text if rung else "not there exactly" not in outcome.text


async def _continued(desk: Desk, named: str, target: Path, row: dict[str, Any]) -> None:
    """A second call after the first."""
    state = row.get("state") or {}
    if "then" not in state:
        return
    if "then_changed_to" in state:
        target.write_text(state["then_changed_to"])
    second = await desk.call("edit", file_path=named, **state["then"][0])
    assert second.error == state.get("then_error", "")
    if "after_then" in state:
        assert target.read_text() == state["after_then"]


def _checked(desk: Desk, target: Path, check: dict[str, Any], outcome: Outcome) -> None:
    if "mode" in check:
        assert stat.S_IMODE(target.stat().st_mode) == int(check["mode"], 8)
    for link in [check["is_symlink"]] if isinstance(check.get("is_symlink"), str) else check.get("is_symlink", []):
        assert (desk.root / link).is_symlink()
    if "content_of" in check:
        assert (desk.root / check["content_of"]).read_bytes() == target.read_bytes()
    if "same_inode" in check:
        assert len({(desk.root / each).stat().st_ino for each in check["same_inode"]}) == 1
    if "tail" in check:
        assert target.read_bytes().endswith(check["tail"].encode())
    if "contains" in check:
        assert check["contains"].encode() in target.read_bytes()
    if "max_seconds" in check:
        assert outcome.seconds < check["max_seconds"] * SLACK
    if "max_result_chars" in check:
        assert len(outcome.text) < check["max_result_chars"]
    assert not [each for each in os.listdir(target.parent) if each.startswith(".codeagent-")]
