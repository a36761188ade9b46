"""The laws of the house that import contracts cannot see, read off the syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "codeagent"
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "sample" not in p.parts)


def names(tree: ast.AST, called: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            if (isinstance(func, ast.Name) and func.id == called) or (
                isinstance(func, ast.Attribute) and func.attr == called
            ):
                yield node


def where(called: str) -> set[str]:
    return {str(path.relative_to(PACKAGE)) for path in FILES for _ in names(ast.parse(path.read_text()), called)}


def test_one_door_only_the_gate_makes_a_permit() -> None:
    assert where("Permit") == {"core/gate.py"}


def test_one_truth_a_request_is_built_in_one_file() -> None:
    assert where("Request") == {"core/conversation.py"}


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches everything and does not pass it on."""
    everything = handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException")
    )
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


def test_one_broad_except_in_the_core_and_one_at_the_edge() -> None:
    broad = {
        str(path.relative_to(PACKAGE))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler) and swallows(node)
    }
    assert broad <= {"core/calls.py", "cli.py"}
    assert "core/calls.py" in broad


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_one_job_a_file(path: Path) -> None:
    text = path.read_text()
    doc = ast.get_docstring(ast.parse(text))
    assert doc, "a module says its one job in a sentence or two"
    assert len(text.splitlines()) <= 400, "split it: it has more than one job"


def test_no_class_grows_into_a_god() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
                assert len(methods) <= 40, f"{path.name}:{node.name} has {len(methods)} methods"


def test_the_environment_is_read_at_the_edge_alone() -> None:
    readers = {
        str(path.relative_to(PACKAGE)) for path in FILES if re.search(r"\bos\.(environ|getenv)\b", path.read_text())
    }
    assert readers <= {
        "cli.py",
        "__main__.py",
        "library.py",
        "wiring/__init__.py",
        "settings.py",
        "fronts/repl/app.py",
        "fronts/tui/app.py",
    }


def test_nothing_names_a_place_of_one_machine() -> None:
    for path in FILES:
        assert not re.search(r"(?<![\w.~-])/(root|home/\w+)/", path.read_text()), path


INERT = {"Content", "Text", "clean", "clean_line"}
"""What makes a text safe to hand to a widget: an object that is never read as markup."""

SHOWN = ("border_title", "border_subtitle", "title", "sub_title", "tooltip", "placeholder")
"""Attributes of widgets that Textual reads as markup when they get a plain string."""


def is_inert(value: ast.expr, names: set[str]) -> bool:
    """A literal, an object that is no markup, a sum of such, or a name that was given one in the same file."""
    match value:
        case ast.Constant():
            return True
        case ast.BinOp(left=left, right=right):
            return is_inert(left, names) and is_inert(right, names)
        case ast.Call(func=ast.Name(id=made)) | ast.Call(func=ast.Attribute(value=ast.Name(id=made))):
            return made in INERT
        case ast.Name(id=name):
            return name in names
    return False


def test_no_widget_gets_text_that_could_be_markup() -> None:
    wrong = []
    for path in (PACKAGE / "fronts" / "tui").rglob("*.py"):
        tree = ast.parse(path.read_text())
        safe = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and is_inert(node.value, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            place = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                plain = any(k.arg == "markup" and getattr(k.value, "value", 1) is False for k in node.keywords)
                if called in ("Static", "Label", "Button", "notify") and not plain:
                    wrong += [place for argument in node.args[:1] if not is_inert(argument, safe)]
                if called in ("from_markup", "from_ansi", "from_text"):
                    wrong.append(place)
                wrong += [
                    place for k in node.keywords if k.arg == "markup" and getattr(k.value, "value", 1) is not False
                ]
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr in SHOWN and not is_inert(node.value, safe):
                        wrong.append(place)
    assert wrong == []
