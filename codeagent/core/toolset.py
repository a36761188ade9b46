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


_NOISE = frozenset({"title", "default", "additionalProperties"})
"""What pydantic writes into a schema that tells a model nothing, and costs tokens in every request."""


def _lean(schema: Any, top: bool = True) -> Any:
    """A JSON schema without noise; the description of the whole stands in the tool's description already."""
    if isinstance(schema, dict):
        return {
            key: {name: _lean(value, False) for name, value in item.items()}
            if key in ("properties", "$defs")
            else _lean(item, False)
            for key, item in schema.items()
            if not (key in _NOISE or (top and key == "description"))
        }
    if isinstance(schema, list):
        return [_lean(item, False) for item in schema]
    return schema
