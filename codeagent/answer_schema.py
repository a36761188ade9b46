"""The shape that `--json-schema` asks of a final answer: checks the schema, and reads an answer out of words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

LARGEST = 256_000
"""Bytes of a schema: it is told to the model, and this is already 80,000 tokens."""

_FENCED = re.compile(r"^```[\w-]*[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_SHOWN = 300
"""Characters of a complaint, which may quote the answer."""


class AnswerSchema:
    """A JSON schema. Nothing is ever fetched: a reference must lead to a place in the schema itself."""

    def __init__(self, text: str) -> None:
        """Take a schema as JSON text. Raises ValueError in words for one that is none."""
        schema = _parsed(text)
        if not isinstance(schema, dict):
            raise ValueError("a JSON object is wanted")
        self.text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        self._validator = _validator(schema)

    def read(self, words: str) -> Any:
        """The value in an answer: the whole of it, or else its last fenced block. Raises ValueError when none fits."""
        text = words.strip()
        try:
            value = _parsed(text)
        except ValueError as fault:
            fenced = _FENCED.findall(text)
            if not fenced:
                raise ValueError(f"the answer is no JSON: {fault}") from None
            value = _parsed(fenced[-1])
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        from jsonschema.exceptions import best_match

        try:
            fault = best_match(self._validator.iter_errors(value))
        except RecursionError:
            raise ValueError("the answer is nested too deeply") from None
        if fault is not None:
            raise ValueError(f"{fault.json_path}: {fault.message}"[:_SHOWN])


def schema_text(given: str) -> str:
    """The schema that a flag names, as JSON text: JSON itself, or the file of this name. Raises ValueError in words."""
    if given.lstrip().startswith("{"):
        return AnswerSchema(given).text
    file = Path(given).expanduser()
    try:
        if not file.is_file():
            raise ValueError(f"{given!r} is neither a JSON object nor a file")
        if file.stat().st_size > LARGEST:
            raise ValueError(f"{given} has more than {LARGEST:,} bytes")
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{given} is no text in UTF-8") from None
    except OSError as fault:
        raise ValueError(f"{given} cannot be read: {fault.strerror or fault}") from None
    return AnswerSchema(text).text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as fault:
        raise ValueError(f"{fault.msg.lower()} in line {fault.lineno}, column {fault.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _validator(schema: dict[str, Any]) -> Validator:
    """Raises ValueError for what is no schema. jsonschema takes 0.1 s to import: only where a schema was given."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    dialect = validator_for(schema, default=Draft202012Validator)
    try:
        dialect.check_schema(schema)
        nothing: Registry[Any] = Registry()  # the library's own would fetch what a reference names
        resolver = nothing.resolver_with_root(DRAFT202012.create_resource(schema))
        for reference in _references(schema):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                raise ValueError(f"the reference {reference!r} leads nowhere within it") from None
    except SchemaError as fault:
        raise ValueError(f"{fault.json_path}: {fault.message}"[:_SHOWN]) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return dialect(schema, registry=nothing)


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
