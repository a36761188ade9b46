"""An explanation of a call says what the gate would say of the real one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import ToolFault
from codeagent.core.judging import judge
from codeagent.core.modes import MODES
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Rules, parse
from codeagent.host.clock import SystemClock
from codeagent.host.jobs import Jobs
from codeagent.host.paths import Places
from codeagent.host.workspace import Workspace
from codeagent.tools.bash import Bash
from codeagent.tools.glob import Glob
from codeagent.tools.grep import Grep
from codeagent.tools.read import Read
from codeagent.tools.write import Write
from codeagent.wiring.sketch import Sketch, input_of, worst_place
from codeagent.wiring.tooling import reader

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("bash", {"command": "ls src && cat a.txt"}),
    ("bash", {"command": "rm -r src"}),
    ("bash", {"command": "make test > out.txt"}),
    ("bash", {"command": "echo $(id)"}),
    ("bash", {"command": "rm -rf /"}),
    ("bash", {"command": "ls", "cwd": "src"}),
    ("bash", {"command": "ls", "cwd": ".."}),
    ("read", {"file_path": "a.txt"}),
    ("read", {"file_path": "link"}),
    ("read", {"file_path": ".env"}),
    ("read", {"file_path": "~/notes"}),
    ("grep", {"pattern": "x"}),
    ("grep", {"pattern": "x", "path": ".."}),
    ("glob", {"pattern": "**/*.py"}),
    ("glob", {"pattern": "/etc/*"}),
    ("glob", {"pattern": "../*"}),
    ("write", {"file_path": "new.txt", "content": ""}),
    ("write", {"file_path": "../new.txt", "content": ""}),
    ("write", {"file_path": ".git/hooks/x", "content": ""}),
]


@pytest.fixture
def tools(project: Path, home: Path) -> dict[str, Any]:
    (project / "src").mkdir()
    (project / "a.txt").write_text("a\n")
    (project / ".env").write_text("K=1\n")
    (project / "link").symlink_to(home)
    workspace = Workspace(project, home, home / "spill", {"PATH": os.environ["PATH"]})
    places = Places(project, home)
    bash = Bash(workspace, reader(places, workspace.env), Jobs("sketch", SystemClock()))
    return {tool.name: tool for tool in (bash, *(kind(workspace, places.judge) for kind in (Read, Grep, Glob, Write)))}


@pytest.mark.parametrize(("tool", "given"), CALLS, ids=lambda part: str(part)[:40])
async def test_both_are_decided_alike(
    tool: str, given: dict[str, Any], tools: dict[str, Any], project: Path, home: Path
) -> None:
    sketch = Sketch(project, home, project, {"PATH": os.environ["PATH"]}).effect(tool, given)
    try:
        real = await tools[tool].plan(tools[tool].Input.model_validate(given))
    except ToolFault:
        pytest.skip("the call cannot work at all, so it is never judged")
    rules = Rules(
        [
            parse("Bash(rm:*)", "allow", "s:1"),
            parse("Read(//etc/**)", "ask", "s:2"),
            parse("Edit(new.txt)", "deny", "s:3"),
        ],
        Anchors(str(project), str(home), str(project)),
    )
    assert sketch.risk == real.risk
    assert worst_place(sketch) == worst_place(real)
    for mode in MODES:
        told, done = judge(sketch, rules, mode), judge(real, rules, mode)
        assert (told.decision, told.by, told.rule) == (done.decision, done.by, done.rule), mode


def test_a_text_stands_for_the_field_that_matters() -> None:
    assert input_of("Bash", "ls") == {"command": "ls"}
    assert input_of("web_fetch", "https://a.example") == {"url": "https://a.example"}
    assert input_of("edit", "a.py") == {"file_path": "a.py"}
