"""Definitions of sub-agents: what is read from Markdown files, and what is said of those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.subagents import Kind
from codeagent.extend.agents import kinds, read_kind


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.md"
    path.write_text(text)
    return path


def kind_in(path: Path) -> Kind:
    return read_kind(path, path.read_bytes())


def test_a_definition_of_another_program_is_read(tmp_path: Path) -> None:
    text = (
        "---\nname: Code-Reviewer\ndescription: >\n  Reviews code\n  after changes.\ntools: Read, Grep, Bash(git *)\n"
        "model: inherit\nmaxTurns: 7\ncolor: red\n---\n\nYou review.\n\n---\nTo the end.\n"
    )
    kind = kind_in(written(tmp_path, "any", text))
    assert (kind.name, kind.description) == ("code-reviewer", "Reviews code after changes.")
    assert kind.tools == ("Read", "Grep", "Bash")
    assert (kind.model, kind.steps) == ("", 7)
    assert kind.prompt == "You review.\n\n---\nTo the end."


@pytest.mark.parametrize("tools", ["tools:\n  - read\n  - grep\n", "tools: [read, 'grep']\n", 'tools: "read grep"\n'])
def test_tools_in_any_spelling(tmp_path: Path, tools: str) -> None:
    kind = kind_in(written(tmp_path, "a", f"---\nname: a\ndescription: b\n{tools}---\nc"))
    assert kind.tools == ("read", "grep")


@pytest.mark.parametrize("tools", ["", "tools:\n", "tools: '*'\n"])
def test_without_tools_it_has_all(tmp_path: Path, tools: str) -> None:
    kind = kind_in(written(tmp_path, "by-file", f"---\ndescription: b\nmodel: haiku\n{tools}---\n"))
    assert (kind.name, kind.tools, kind.model, kind.prompt) == ("by-file", None, "haiku", "b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("You review.", "front matter"),
        ("---\nname: a\n---\nb", "description: a text"),
        ("---\nname: ../up\ndescription: b\n---\n", "name: letters"),
        ("---\nname: a\ndescription: b\nmaxTurns: many\n---\n", "maxTurns: a whole number is wanted, 'many' came"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path, "wrong", text)
    found, problems = kinds([tmp_path])
    assert set(found) == {"explore", "general"}
    (problem,) = problems
    assert str(path) in problem
    assert words in problem


def test_the_later_directory_counts_and_the_products_can_be_replaced(tmp_path: Path) -> None:
    for name, words in (("one", "first"), ("two", "second")):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "explore", f"---\nname: explore\ndescription: {words}\n---\n")
    found, problems = kinds([tmp_path / "one", tmp_path / "two", tmp_path / "missing"])
    assert found["explore"].description == "second"
    assert found["explore"].where.endswith("two/explore.md")
    assert problems == ()


def test_what_does_not_count_is_left_out_and_what_was_judged_is_read(tmp_path: Path) -> None:
    judged = {
        written(tmp_path, "a", "---\nname: a\ndescription: now\n---\n"): b"---\nname: a\ndescription: then\n---\n"
    }
    written(tmp_path, "b", "---\nname: b\ndescription: late\n---\n")
    found, problems = kinds([tmp_path], judged.get)
    assert found["a"].description == "then"
    assert "b" not in found
    assert problems == ()


@given(st.text(max_size=200))
def test_no_text_does_harm(text: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.md"
        path.write_bytes(f"---\n{text}\n---\n".encode("utf-8", "surrogatepass"))
        found, problems = kinds([Path(folder)])
        assert len(found) - 2 + len(problems) in (0, 1)
