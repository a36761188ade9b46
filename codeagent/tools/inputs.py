"""What the inputs of tools have in common: strict types, paths, and words for what is wrong with an input."""

from __future__ import annotations

import difflib
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, model_validator


def _whole_text(value: Any) -> Any:
    """Half a surrogate pair fits in no file, no path and no request."""
    if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value if char > "\ud7ff"):
        raise ValueError("holds half of a surrogate pair; send the whole character")
    return value


def _no_nul(value: Any) -> Any:
    if isinstance(value, str) and "\0" in value:
        raise ValueError("holds a NUL character, which no path and no pattern can")
    return _whole_text(value)


def _count(value: Any) -> Any:
    """A number may come as a string; a boolean is no number."""
    if isinstance(value, bool):
        raise ValueError("a whole number is wanted, a boolean came")
    if isinstance(value, str) and value.strip().isdigit() and len(value) < 20:
        return int(value)
    return value


Content = Annotated[str, BeforeValidator(_whole_text)]
"""Text for a file, NUL included."""
Line = Annotated[str, BeforeValidator(_no_nul)]
"""Text without NUL: a pattern, an optional path."""
FilePath = Annotated[str, StringConstraints(min_length=1), BeforeValidator(_no_nul)]
"""A path as the model names it."""
Natural = Annotated[int, Field(ge=0), BeforeValidator(_count)]
"""0, 1, 2 ..."""
Positive = Annotated[int, Field(ge=1), BeforeValidator(_count)]
"""1, 2, 3 ..."""


def _bare(schema: dict[str, Any]) -> None:
    """Leave out of a JSON schema what costs tokens and tells the model nothing: titles, defaults, docstrings."""
    schema.pop("description", None)
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
        field.pop("default", None)


class Input(BaseModel):
    """An input: unknown fields are errors, nothing is guessed from another type, null is the same as absent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, json_schema_extra=_bare)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict):
            optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
            return {name: value for name, value in data.items() if value is not None or name not in optional}
        return data


def explain(error: ValidationError, tool: str) -> str:
    """What is wrong with an input, field by field: what came, what is wanted; and the nearest right name."""
    problems = error.errors(include_url=False)
    unknown = [str(p["loc"][-1]) for p in problems if p["type"] == "extra_forbidden"]
    lines = [_problem(problem, unknown) for problem in problems[:8]]
    return f"The input of {tool} is not right, nothing was done:\n" + "\n".join(f"- {line}" for line in lines)


_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "string_too_short": "a text that is not empty",
}


def _problem(problem: Any, unknown: list[str]) -> str:
    kind, came = problem["type"], problem["input"]
    where = ".".join(str(part) for part in problem["loc"]) or "input"
    if kind == "missing":
        near = difflib.get_close_matches(where, unknown, 1, 0.3) or unknown[:1]
        return f"{where}: missing" + (f"; did you mean it with `{near[0]}`?" if near else "")
    if kind == "extra_forbidden":
        return f"{where}: there is no such field"
    wanted = _WANTED.get(kind)
    if wanted:
        return f"{where}: {wanted} is wanted, {_seen(came)} came"
    reason = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {reason[:1].lower()}{reason[1:]}" + ("" if kind == "value_error" else f"; {_seen(came)} came")


def _seen(value: Any) -> str:
    text = repr(value)
    kind = {dict: "an object", list: "a list", bool: "a boolean", int: "a number", str: "a string"}.get(type(value), "")
    return f"{kind} {text if len(text) <= 60 else text[:60] + '…'}".strip()


def prompt(name: str) -> str:
    """The description of a tool, written for the model, from the Markdown file beside the tools."""
    return resources.files("codeagent.tools").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()
