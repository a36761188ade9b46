"""From the text of a script to its steps, with errors that name file, line, what came and what is wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from msgspec import ValidationError, convert

from codeagent.core.errors import Category, ModelError
from codeagent.core.events import Stop
from codeagent.core.messages import Block, Text, Thinking, ToolUse, Usage
from codeagent.models.script_format import PLACEHOLDER, Fail, Go, Part, Script, Step

_CALL = re.compile(r"([A-Za-z0-9_-]{1,64})(?:#([A-Za-z0-9_-]{1,64}))?(?:\s+(.*))?", re.DOTALL)
_GO = re.compile(r"(\S+)(?:\s+when\s+([\w-]+)(?:\s*~\s?(.*))?)?")


def parse(text: str, name: str) -> Script:
    """Read a script; `name` is its file's name. Raises ModelError of category `script`."""
    reader = _Reader(name)
    for line, word, rest in reader.lines(text):
        reader.line = line
        if word == "---":
            reader.begin(rest.strip())
        else:
            reader.read(word, rest)
    return reader.script()


class _Reader:
    """A script while it is read: the steps so far, and the fields of the open one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = 0
        self.drafts: list[dict[str, Any]] = []
        self.labels: dict[str, int] = {}
        self.window = 0

    def fault(self, message: str) -> ModelError:
        return ModelError(f"{self.name}:{self.line}: {message}", category="script")

    def lines(self, text: str) -> list[tuple[int, str, str]]:
        """The script's lines as (number, first word, the rest with the indented lines that continue it)."""
        found: list[tuple[int, str, list[str]]] = []
        for number, ended in enumerate(text.split("\n"), start=1):
            line = ended.removesuffix("\r")
            if line.startswith("  ") and found and found[-1][1] != "---":
                found[-1][2].append(line[2:])
            elif not line.strip():
                if found:
                    found[-1][2].append("")
            elif line[0] in " \t":
                self.line = number
                raise self.fault("an indented line continues nothing; wanted two blanks, below a line such as say")
            elif line[0] != "#":
                word, _, rest = line.partition(" ")
                found.append((number, word, [rest]))
        return [(number, word, "\n".join(rest).rstrip("\n")) for number, word, rest in found]

    def begin(self, label: str) -> None:
        """Open a new step."""
        if label in self.labels:
            raise self.fault(f"a step is called {label!r} already; wanted a label of its own")
        if label:
            self.labels[label] = len(self.drafts)
        self.drafts.append({"line": self.line})

    def read(self, word: str, rest: str) -> None:
        """Read one line into the open step."""
        directive = _DIRECTIVES.get(word)
        if word == "window":
            self.window = self.whole(rest)
            return
        if directive is None:
            raise self.fault(f"{word!r} begins no line; wanted one of {', '.join(_DIRECTIVES)}, or --- for a new step")
        if not self.drafts:
            self.begin("")
        directive(self, rest)

    def put(self, **fields: Any) -> None:
        """Set fields of the open step."""
        self.drafts[-1].update(fields)

    def add(self, name: str, item: Part | Go) -> None:
        """Add to a list of the open step."""
        self.drafts[-1][name] = (*self.drafts[-1].get(name, ()), item)

    def object(self, text: str, what: str) -> dict[str, Any]:
        """The JSON object that a line ends with; none means an empty one."""
        try:
            found = json.loads(text.strip() or "{}")
        except ValueError as error:
            raise self.fault(f"the {what} is not JSON: {error}") from None
        if not isinstance(found, dict):
            raise self.fault(f"the {what} is {text[:40]!r}; wanted a JSON object in braces")
        return found

    def shape(self, found: Any, kind: Any) -> Any:
        """The object as one of our types."""
        try:
            return convert(found, kind)
        except ValidationError as error:
            raise self.fault(str(error)) from None

    def check(self, value: Any) -> None:
        """Refuse placeholders that could never be filled, in a text or anywhere in an input."""
        if isinstance(value, str):
            for match in PLACEHOLDER.finditer(value):
                self.pattern(match[2])
            left = PLACEHOLDER.sub("", value)
            if "{{" in left:
                place = left[left.index("{{") :][:40]
                raise self.fault(f"{place!r} stands for nothing; wanted {{{{SUBJECT ~ PATTERN}}}}, or block for braces")
        elif isinstance(value, Mapping):
            for item in value.values():
                self.check(item)
        elif isinstance(value, list):
            for item in value:
                self.check(item)

    def whole(self, text: str) -> int:
        """A number of tokens."""
        if not text.strip().isdecimal():
            raise self.fault(f"{text!r} is no window; wanted tokens, such as 60000")
        return int(text)

    def pattern(self, text: str) -> None:
        try:
            re.compile(text, re.MULTILINE)
        except re.error as error:
            raise self.fault(f"{text!r} is no regular expression: {error}") from None

    def script(self) -> Script:
        """The whole, once every way leads somewhere."""
        steps = tuple(Step(**draft) for draft in self.drafts)
        for go in (go for step in steps for go in step.go):
            if go.label not in self.labels:
                self.line = go.line
                raise self.fault(f"no step is called {go.label!r}; the labels are: {', '.join(self.labels) or 'none'}")
        return Script(self.name, steps, self.labels, self.window)


def _say(reader: _Reader, rest: str) -> None:
    reader.check(rest)
    reader.add("parts", Part(Text(rest), reader.line))


def _think(reader: _Reader, rest: str) -> None:
    reader.check(rest)
    reader.add("parts", Part(Thinking(rest), reader.line))


def _call(reader: _Reader, rest: str) -> None:
    match = _CALL.fullmatch(rest)
    if match is None:
        raise reader.fault(f'{rest[:40]!r} is no call; wanted a tool and its input: read {{"file_path": "a.py"}}')
    name, use_id, given = match.groups()
    found = reader.object(given or "", f"input of {name}")
    reader.check(found)
    reader.add("parts", Part(ToolUse(use_id or "", name, found), reader.line))


def _block(reader: _Reader, rest: str) -> None:
    reader.add("parts", Part(reader.shape(reader.object(rest, "block"), Block), reader.line, verbatim=True))


def _go(reader: _Reader, rest: str) -> None:
    match = _GO.fullmatch(rest.strip())
    if match is None:
        raise reader.fault(f"{rest[:40]!r} is no way; wanted LABEL, or LABEL when SUBJECT ~ PATTERN")
    label, subject, pattern = match.groups()
    reader.pattern(pattern or "")
    reader.add("go", Go(label, reader.line, subject or "", pattern or ""))


def _stop(reader: _Reader, rest: str) -> None:
    reason, _, detail = rest.strip().partition(" ")
    if reason not in get_args(Stop):
        raise reader.fault(f"{reason!r} is no reason to stop; wanted one of {', '.join(get_args(Stop))}")
    reader.put(stop=reason, detail=detail.strip())


def _cut(reader: _Reader, rest: str) -> None:
    reader.put(cut=tuple(rest.split()))


def _usage(reader: _Reader, rest: str) -> None:
    found = reader.object(rest, "usage")
    cost = reader.shape(found.pop("cost", 0.0), float | None)
    reader.put(usage=reader.shape(found, Usage), cost=cost)


def _fail(reader: _Reader, rest: str) -> None:
    category, _, given = rest.partition(" ")
    if category not in get_args(Category):
        raise reader.fault(f"{category!r} is no failure; wanted one of {', '.join(get_args(Category))}")
    reader.put(fail=reader.shape(reader.object(given, "failure") | {"category": category}, Fail))


def _wait(reader: _Reader, rest: str) -> None:
    try:
        reader.put(wait=float(rest))
    except ValueError:
        raise reader.fault(f"{rest!r} is no number; wanted seconds such as 0.5") from None


_DIRECTIVES: dict[str, Callable[[_Reader, str], None]] = {
    "say": _say,
    "think": _think,
    "call": _call,
    "block": _block,
    "go": _go,
    "stop": _stop,
    "cut": _cut,
    "usage": _usage,
    "fail": _fail,
    "wait": _wait,
}
