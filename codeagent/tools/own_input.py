"""The input of a declared tool: its JSON schema as the model sees it, and a check of what the model sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}


class DeclaredInput(BaseModel):
    """Base of all: unknown fields are errors, null is the same as absent. Nested values are the program's to check."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    declared: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """The schema as it was declared."""
        return cls.declared

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        needed = cls.declared.get("required", ())
        return {k: v for k, v in data.items() if v is not None or k in needed} if isinstance(data, dict) else data

    def given(self) -> dict[str, Any]:
        """What the model sent, by the names of the schema."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def input_of(name: str, schema: Any) -> type[DeclaredInput]:
    """The input class for a JSON schema. Raises ValueError, in words, for one that is no schema of an object."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError('input_schema: a JSON schema with "type": "object" is wanted')
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not all(isinstance(each, dict) for each in properties.values()):
        raise ValueError("input_schema.properties: an object of schemas is wanted")
    if not isinstance(required, list) or not set(map(str, required)) <= set(properties):
        raise ValueError("input_schema.required: a list of names of properties is wanted")
    fields: dict[str, Any] = {}
    for at, (field, described) in enumerate(properties.items()):
        needed = ... if field in required else None
        fields[f"field_{at}"] = (Annotated[_type(field, described), Field(alias=field)], needed)
    made = create_model(name, __base__=DeclaredInput, **fields)
    made.declared = schema
    return made


def _type(name: str, described: Mapping[str, Any]) -> Any:
    if values := described.get("enum"):
        return Literal[tuple(values)]
    kind = described.get("type")
    if isinstance(kind, str) and kind not in _TYPES:
        raise ValueError(f"input_schema.properties.{name}.type: {kind!r} is no JSON type")
    return _TYPES[kind] if isinstance(kind, str) else Any
