"""Schemas as the model sees them: nothing twice, nothing that tells it nothing, and never without end."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from codeagent.core.toolset import Toolset


class Part(BaseModel):
    title: str
    default: int = Field(3, ge=0, description="How many")


class Given(BaseModel):
    """What to do."""

    parts: list[Part]
    other: Part | None = None


def schema_of(model: Any) -> Any:
    class Tool:
        name: ClassVar[str] = "tool"
        description: ClassVar[str] = "A tool."
        timeout: ClassVar[float] = 1
        Input = model

    (schema,) = Toolset([Tool()], lambda error, name: "").schemas()  # type: ignore[list-item]  # it is never run
    return schema.input_schema


def test_definitions_stand_where_they_are_used_and_fields_of_any_name_stay() -> None:
    part = {
        "properties": {"title": {"type": "string"}, "default": {"type": "integer", "description": "How many"}},
        "required": ["title"],
        "type": "object",
    }
    assert schema_of(Given) == {
        "properties": {"parts": {"items": part, "type": "array"}, "other": part},
        "required": ["parts"],
        "type": "object",
    }


def test_a_definition_that_holds_itself_comes_to_an_end() -> None:
    class Tree:
        @staticmethod
        def model_json_schema() -> Any:
            node = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
            return {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}

    text = json.dumps(schema_of(Tree))
    assert "$ref" not in text
    assert text.count("children") == 1
