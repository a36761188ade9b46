"""Inputs that a model may send: a result or an error that names the field; nothing else on disk changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from codeagent.core.events import Saw
from codeagent.host.files import digest
from codeagent.tools.inputs import explain
from codeagent.tools.read import ReadInput
from tests.tools.desk import Desk, cases

FILE_TOOLS = ("read", "write", "edit", "grep", "glob")
ROWS = [row for row in cases("security/tool_input") if "raw" not in row and row["tool"] in FILE_TOOLS]
"""Rows with raw text are about reading a stream, which is the adapter's work."""
SCHEMA_BYTES = 4200


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['tool']}-{row['id']}")
async def test_input(row: dict[str, Any], tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home", {"PATH": os.environ["PATH"]})
    a = desk.put("a.txt", "a\nsame\ntwice twice\n")
    desk.put("evil_aaaa.txt", "a" * 40 + "!\n")
    desk.put("src/x.py", "x\n")
    desk.workspace.seen.note(Saw(str(a), digest(a.read_bytes())))
    gen = row.get("gen")
    given = row["input"] if gen is None else gen["base"] | {gen["field"]: gen["unit"] * gen["count"]}
    outcome = await desk.call(row["tool"], **given)
    expect = row["expect"]
    if expect["is_error"] != "either":
        assert bool(outcome.error) == expect["is_error"], outcome.text
    if outcome.error:
        assert any(name in outcome.text for name in expect["names"]), outcome.text
        assert a.read_text() == "a\nsame\ntwice twice\n"
    assert sorted(os.listdir(desk.root))[:2] == ["a.txt", "evil_aaaa.txt"]
    if expect["is_error"] is True:
        assert not (desk.root / "n.txt").exists()


def test_numbers_may_be_strings_and_null_is_absent() -> None:
    read = ReadInput.model_validate({"file_path": "a", "offset": "5", "limit": None})
    assert (read.offset, read.limit) == (5, 2000)
    with pytest.raises(ValidationError) as caught:
        ReadInput.model_validate({"file_path": "a", "offset": True})
    assert "offset: a whole number is wanted" in explain(caught.value, "read")


def test_a_near_miss_names_the_right_field() -> None:
    with pytest.raises(ValidationError) as caught:
        ReadInput.model_validate({"path": "a.txt"})
    assert "file_path: missing; did you mean it with `path`?" in explain(caught.value, "read")


def test_schemas_are_small_and_have_no_titles(tmp_path: Path) -> None:
    tools = Desk(tmp_path / "project", tmp_path / "home").tools.values()
    schemas = [
        {"name": t.name, "description": t.description, "input_schema": t.Input.model_json_schema()} for t in tools
    ]
    text = json.dumps(schemas, separators=(",", ":"))
    assert '"title"' not in text
    assert len(text.encode()) <= SCHEMA_BYTES
