"""A change that was accepted in part: what is written, and what the model is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.effects import Effect, Permit
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.messages import Text
from codeagent.core.ports import Result
from codeagent.core.views import Diff
from codeagent.host.files import digest
from codeagent.sessions.undoing import before as taken_back
from tests.tools.desk import Desk

LINES = [f"line {n}" for n in range(1, 31)]
EDITS = [
    {"old_string": "line 3\n", "new_string": "third\n"},
    {"old_string": "line 14\nline 15\n", "new_string": ""},
    {"old_string": "line 29\n", "new_string": "line 29\nalmost\n"},
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "project", tmp_path / "home")


def known(desk: Desk, data: bytes) -> Path:
    path = desk.put("a.txt", data)
    desk.workspace.seen.note(Saw(str(path), digest(data)))
    return path


async def accepted(desk: Desk, name: str, given: dict[str, Any], hunks: tuple[int, ...]) -> tuple[Effect, Result]:
    """Plan and make these hunks of it."""
    tool = desk.tools[name]
    args = tool.Input.model_validate({"file_path": "a.txt", **given})
    effect = await tool.plan(args)
    steps = [step async for step in tool.run(args, Permit(effect, hunks=hunks))]
    assert isinstance(steps[-1], Result)
    for saw in steps[-1].saw:
        desk.workspace.seen.note(saw)
    return effect, steps[-1]


def words(result: Result) -> str:
    return "\n".join(block.text for block in result.blocks if isinstance(block, Text))


async def test_only_the_taken_hunks_of_several_edits_are_written(desk: Desk) -> None:
    old = "\n".join(LINES).encode() + b"\n"
    path = known(desk, old)
    effect, result = await accepted(desk, "edit", {"edits": EDITS}, (0, 2))
    assert effect.hunkwise
    written = path.read_bytes()
    assert written == old.replace(b"line 3\n", b"third\n").replace(b"line 29\n", b"line 29\nalmost\n")
    assert result.after == digest(written) != effect.after
    assert result.before == digest(old)
    assert result.summary == "+2 -1, 2 of 3 hunks"
    assert "Applied: line 3; line 30. Left out, unchanged there: lines 14-15." in words(result)
    assert isinstance(result.view, Diff)
    assert taken_back(written, result.view, result.before) == old
    # The model knows the file as it is now: the part that was left out can be proposed again.
    again, _ = await accepted(desk, "edit", EDITS[1], (0,))
    assert not again.hunkwise
    assert b"line 14" not in path.read_bytes()


async def test_a_part_of_a_write_over_a_file(desk: Desk) -> None:
    path = known(desk, "\r\n".join(LINES).encode("utf-16"))
    content = "\n".join(LINES).replace("line 2\n", "two\n").replace("line 30", "thirty\n")
    effect, result = await accepted(desk, "write", {"content": content}, (1,))
    assert effect.title == "Overwrite a.txt"
    assert path.read_bytes() == ("\r\n".join([*LINES[:-1], "thirty"]) + "\r\n").encode("utf-16")
    assert result.after == digest(path.read_bytes())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    taken=st.sets(st.integers(0, 2), min_size=1),
)
async def test_marks_line_ends_and_a_missing_last_one_stay(
    codec: str, end: str, last: bool, taken: set[int], desk: Desk
) -> None:
    lines = [f"é {line}" for line in LINES]
    path = known(desk, (end.join(lines) + (end if last else "")).encode(codec))
    edits = [{"old_string": f"é line {n}", "new_string": f"ü {n}"} for n in (12, 21, 30)]
    await accepted(desk, "edit", {"edits": edits}, tuple(sorted(taken)))
    for position, n in enumerate((12, 21, 30)):
        lines[n - 1] = f"ü {n}" if position in taken else lines[n - 1]
    assert path.read_bytes() == (end.join(lines) + (end if last else "")).encode(codec)


async def test_bytes_that_are_no_text_stay(desk: Desk) -> None:
    old = "\n".join(f"é {line}" for line in LINES).encode() + b"\xff\n"
    path = known(desk, old)
    await accepted(desk, "edit", {"edits": [EDITS[0], EDITS[2]]}, (0,))
    assert path.read_bytes() == old.replace(b"line 3\n", b"third\n")


async def test_hunks_that_are_others_than_those_shown_are_not_written(desk: Desk) -> None:
    """Another tool of ours changed the file while the person decided: the same lines, in one hunk instead of two."""
    path = known(desk, b"a\n" + b"-\n" * 5 + b"b\n")
    given = {"edits": [{"old_string": "a", "new_string": "A"}, {"old_string": "b", "new_string": "B"}]}
    tool = desk.tools["edit"]
    args = tool.Input.model_validate({"file_path": "a.txt", **given})
    effect = await tool.plan(args)
    assert effect.hunkwise
    known(desk, b"a\n-\nb\n")
    with pytest.raises(ToolFault):
        [step async for step in tool.run(args, Permit(effect, hunks=(0,)))]
    assert path.read_bytes() == b"a\n-\nb\n"


async def test_one_hunk_is_no_choice(desk: Desk) -> None:
    known(desk, b"a\nb\n")
    args = desk.tools["edit"].Input.model_validate({"file_path": "a.txt", "old_string": "a", "new_string": "A"})
    assert not (await desk.tools["edit"].plan(args)).hunkwise
    args = desk.tools["write"].Input.model_validate({"file_path": "new.txt", "content": "a\n" * 50})
    assert not (await desk.tools["write"].plan(args)).hunkwise
