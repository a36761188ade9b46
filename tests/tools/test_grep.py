"""Grep: the whole answer is the same whichever engine searches; what the gate is told; glob's plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.effects import Risk
from codeagent.core.views import Listing
from tests.tools.desk import Desk

FILES = {
    "src/cart.py": "class Cart:\n    def total(self):\n        return 0\n\n    def add(self, item):\n        pass\n",
    "src/cart.ts": "class Cart {\n  total() { return 0 }\n}\n",
    "src/deep/notes.md": "total\r\nTotal\r\n\r\nsub total\r\n",
    "tests/test_cart.py": "from src.cart import Cart\n\ndef test_total():\n    assert Cart().total() == 0\n",
    "build/out.py": "total = 1\n",
    ".hidden/x.py": "total = 2\n",
    "data.bin": "total\0\n",
    "latin.txt": "caf\udce9 total\n",
    "utf16.txt": "\udcff\udcfet\0o\0t\0a\0l\0\n\0",
    ".gitignore": "build/\n",
}
CALLS: list[dict[str, Any]] = [
    {"pattern": "total"},
    {"pattern": "total", "output_mode": "content"},
    {"pattern": "total", "output_mode": "content", "context": 1},
    {"pattern": "total", "output_mode": "content", "before": 2, "head_limit": 2, "offset": 1},
    {"pattern": "total", "output_mode": "count"},
    {"pattern": "total", "glob": "*.py"},
    {"pattern": "total", "glob": "!*.py"},
    {"pattern": "total", "glob": "src/**/*.{md,ts}"},
    {"pattern": "total", "type": "py", "head_limit": 1},
    {"pattern": "total", "type": "py", "path": "src", "output_mode": "content"},
    {"pattern": "total", "include_ignored": True},
    {"pattern": "total", "path": "build", "output_mode": "content"},
    {"pattern": "TOTAL", "case_insensitive": True, "word": True, "output_mode": "content"},
    {"pattern": "total() {", "literal": True, "output_mode": "content"},
    {"pattern": r"class Cart.*?total", "multiline": True, "output_mode": "content"},
    {"pattern": r"total\n", "multiline": True, "output_mode": "count"},
    {"pattern": r"[[:upper:]]art\b", "output_mode": "content"},
    {"pattern": "nowhere", "glob": "*.py"},
    {"pattern": "total", "path": "latin.txt", "output_mode": "content"},
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(f"{k}={v}" for k, v in call.items()))
async def test_both_engines_give_the_same_answer(call: dict[str, Any], tmp_path: Path) -> None:
    texts = []
    for path in (os.environ["PATH"], ""):
        desk = Desk(tmp_path / "project", tmp_path / "home", {"PATH": path, "HOME": str(tmp_path)})
        for name, text in FILES.items():
            desk.put(name, text)
        outcome = await desk.call("grep", **call)
        assert not outcome.error, outcome.text
        texts.append(outcome.text)
    assert texts[0] == texts[1]
    assert texts[0]


async def test_what_is_shown_and_counted(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    desk.put("a.py", "one\ntwo\none\n")
    desk.put("b/c.py", "one\n")
    content = await desk.call("grep", pattern="one", output_mode="content", context=1)
    assert content.text == "a.py\n1:one\n2-two\n3:one\n\nb/c.py\n1:one\n\n[3 matching lines in 2 files]"
    assert content.result is not None
    assert content.result.summary == "3 matches"
    assert [saw.path for saw in content.result.saw] == [str(desk.root / "a.py"), str(desk.root / "b/c.py")]
    files = await desk.call("grep", pattern="one")
    assert files.text == "a.py\nb/c.py\n\n[2 files with matches]"
    assert files.result is not None
    assert files.result.view == Listing(("a.py", "b/c.py"))


async def test_the_gate_is_told_where_it_looks(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    grep, glob = desk.tools["grep"], desk.tools["glob"]
    effect = await grep.plan(grep.Input(pattern="x", path="../other"))
    assert (effect.risk, [t.place for t in effect.touches]) == (Risk.LOW, ["outside"])
    assert (await grep.plan(grep.Input(pattern="x"))).title == "Search the project for x"
    for pattern in ("/etc/*.conf", "../*", "a/../../*", "~/*"):
        effect = await glob.plan(glob.Input(pattern=pattern))
        assert "outside" in [t.place for t in effect.touches], pattern
    assert (await glob.plan(glob.Input(pattern="**/*.py"))).label == "**/*.py"


async def test_paths_come_back_as_they_were_asked_for(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    path = desk.put("sub/a.py", "one\n")
    for where in ("sub", "./sub/", str(desk.root / "sub")):
        found = await desk.call("glob", pattern="*.py", path=where)
        assert found.text == "sub/a.py"
        assert (await desk.call("grep", pattern="one", path=where)).text.startswith("sub/a.py\n")
    desk.workspace.seen.cwd = str(path.parent)
    assert (await desk.call("glob", pattern="*.py")).text == "a.py"
    assert (await desk.call("read", file_path="a.py")).text == "1\tone"
