"""Tools by name, with their schemas as the model sees them, frozen and sorted."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from codeagent.core.errors import ToolFault
from codeagent.core.messages import ToolSchema, ToolUse
from codeagent.core.ports import Tool


class Toolset:
    """The tools of a session. `explain` turns a validation error into words that name the field."""

    def __init__(self, tools: Iterable[Tool[Any]], explain: Callable[[Any, str], str]) -> None:
        self._tools: dict[str, Tool[Any]] = {tool.name: tool for tool in sorted(tools, key=lambda t: t.name)}
        self._explain = explain

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(self._tools)

    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is told, once per session."""
        return tuple(
            ToolSchema(tool.name, tool.description, _lean(tool.Input.model_json_schema()))
            for tool in self._tools.values()
        )

    def find(self, use: ToolUse) -> Tool[Any]:
        """The tool of this call. Raises ToolFault naming the tools that there are."""
        tool = self._tools.get(use.name) or self._tools.get(use.name.lower())
        if tool is None:
            near = difflib.get_close_matches(use.name.lower(), self._tools, n=1, cutoff=0.6)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ToolFault(f"There is no tool named {use.name!r}.{hint} The tools are: {', '.join(self._tools)}.")
        return tool

    def parse(self, tool: Tool[Any], name: str, given: Mapping[str, Any]) -> Any:
        """The call's input, validated. Raises ToolFault that names the field, what came and what is wanted."""
        try:
            return tool.Input.model_validate(dict(given))
        except ValueError as wrong:
            raise ToolFault(self._explain(wrong, name), summary="bad input") from None
        except RecursionError:
            raise ToolFault(f"The input of {name} is nested too deeply; send it flat.", summary="bad input") from None


_NOISE = frozenset({"title", "default", "additionalProperties", "minLength", "minimum", "exclusiveMinimum"})
"""What pydantic writes into a schema that tells a model little, and costs tokens in every request."""

_NULL = {"type": "null"}


def _lean(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An input's JSON schema without noise; the description of the whole stands in the tool's description already."""
    definitions = schema.get("$defs", {})
    return _without(_pruned(schema, definitions), "description")


def _pruned(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The same with every definition in the place where it is used; one that holds itself ends as any object."""
    if isinstance(schema, list):
        return [_pruned(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if len(some := [each for each in schema.get("anyOf", ()) if each != _NULL]) == 1:
        schema = {**_without(schema, "anyOf"), **some[0]}
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        meant = definitions.get(name, {"type": "object"})
        return _pruned({**meant, **_without(schema, "$ref")}, _without(definitions, name))
    return {
        key: {name: _pruned(value, definitions) for name, value in item.items()}
        if key == "properties"
        else _pruned(item, definitions)
        for key, item in schema.items()
        if key not in _NOISE and key != "$defs"
    }


def _without(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}
