"""Every row of the read cases, on real files."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.events import Compacted
from codeagent.core.messages import Document, Image
from tests.tools.desk import SLACK, Desk, Outcome, cases, content

NOT_AS_ROOT = {"read-denied"}


@pytest.mark.parametrize("row", cases("tools/read"), ids=lambda row: row["id"])
async def test_read(row: dict[str, Any], tmp_path: Path) -> None:
    if row["id"] in NOT_AS_ROOT and os.geteuid() == 0:
        pytest.skip("permissions do not bind root")
    fs = row.get("fs") or {}
    desk = Desk(tmp_path / "project", tmp_path / "home", outside_allowed=fs.get("allow_outside", False))
    data, name = content(row, "content"), row.get("file", "f.txt")
    if data is not None:
        desk.put(name, data)
    del data
    _laid_out(desk, name, row, fs)
    for call in row["calls"]:
        if "expect" in call:
            args = {("file_path" if key == "path" else key): value for key, value in call["args"].items()}
            outcome = await desk.call("read", **{"file_path": name} | args)
            _judged(outcome, call["expect"])
        else:
            _interfered(desk, desk.root / name, call)


def _laid_out(desk: Desk, name: str, row: dict[str, Any], fs: dict[str, Any]) -> None:
    for sibling in row.get("siblings", []):
        desk.put(sibling, "x\n")
    if "mode" in fs:
        (desk.root / name).chmod(int(fs["mode"], 8))
    if "outside_file" in fs:
        (desk.root / fs["outside_file"]).write_text("x\n")
    if "symlink_loop" in fs:
        (desk.root / fs["symlink_loop"]).symlink_to(fs["symlink_loop"])
    for file, text in fs.get("home_file", {}).items():
        desk.home.mkdir(exist_ok=True)
        (desk.home / file).write_text(text)


def _interfered(desk: Desk, path: Path, action: dict[str, Any]) -> None:
    times = path.stat()
    if "change_to" in action:
        path.write_text(action["change_to"])
    if "append" in action:
        path.write_text(path.read_text() + action["append"])
    if action.get("keep_mtime"):
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if action.get("touch"):
        os.utime(path, (2_000_000_000, 2_000_000_000))
    if action.get("compaction"):
        desk.workspace.seen.see(Compacted("", 0))


def _kind(outcome: Outcome) -> str:
    if outcome.result is None:
        return outcome.error
    block = outcome.result.blocks[-1]
    if isinstance(block, Image):
        return "image"
    if isinstance(block, Document):
        return "pdf"
    if outcome.result.summary in ("empty", "unchanged"):
        return outcome.result.summary
    return "notebook" if "a notebook" in outcome.text else "text"


def _judged(outcome: Outcome, expect: dict[str, Any]) -> None:
    kind = _kind(outcome)
    accepted = [expect[key] for key in ("kind", "or_kind", "error", "or_error") if key in expect]
    assert kind in accepted, outcome.text[:500]
    assert kind != expect.get("not_kind")
    outcome.says(expect.get("says", []))
    assert len(outcome.text) <= expect.get("max_chars", 10**9)
    assert outcome.seconds <= expect.get("max_seconds", 60) * SLACK
    for text in expect.get("contains", []):
        assert text in outcome.text
    if outcome.result is None:
        return
    if "media_type" in expect:
        block = outcome.result.blocks[-1]
        assert isinstance(block, Image)
        assert block.media_type == expect["media_type"]
        assert base64.b64decode(block.data)
    shown = dict(line.split("\t", 1) for line in outcome.text.split("\n") if re.match(r"\d+\t", line))
    if kind == "text":
        _lines_judged(outcome, shown, expect)


def _lines_judged(outcome: Outcome, shown: dict[str, str], expect: dict[str, Any]) -> None:
    for number, text in expect.get("lines", []):
        assert shown[str(number)] == text
    for number in expect.get("not_lines", []):
        assert str(number) not in shown
    if "line1_any" in expect:
        assert shown["1"] in expect["line1_any"]
    cut = re.search(r"\[lines .* of (.*); go on with offset (\d+)", outcome.text)
    if "truncated" in expect:
        assert bool(cut) == expect["truncated"]
    if cut and "next_offset" in expect:
        assert int(cut[2]) == expect["next_offset"]
    if "total_lines" in expect:
        assert not cut
        assert max(map(int, shown)) == expect["total_lines"]
