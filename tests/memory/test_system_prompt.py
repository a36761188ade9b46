"""The system prompt: a block for everybody, and a block for this session."""

import re

from codeagent.memory.instructions import load
from codeagent.memory.prompt import Surroundings, compose, product_prompt

HERE = Surroundings("/home/ada/shop", "Linux", "2026-11-29", "main", ("/data",))


def test_the_product_prompt_is_short_and_the_same_everywhere():
    text = product_prompt()
    assert len(text.encode()) < 3000
    assert not re.search(r"\d{4}|/home|/Users", text)


def test_the_second_block_has_what_the_session_found(tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "AGENTS.md").write_text("Use tabs.")
    guidelines = load(tmp_path / "repo", tmp_path / "home")
    first, second = compose(guidelines, "- [A](a.md) - one\n", HERE, appended="Speak Latin.")
    assert first == product_prompt()
    parts = [
        "/home/ada/shop",
        "Linux",
        "main",
        "/data",
        "2026-11-29",
        "AGENTS.md\n\nUse tabs.",
        "- [A]",
        "Speak Latin.",
    ]
    places = [second.find(part) for part in parts]
    assert -1 not in places
    assert places[-3:] == sorted(places[-3:])
    assert compose(guidelines, "- [A](a.md) - one\n", HERE, appended="Speak Latin.") == (first, second)


def test_what_is_not_there_is_not_mentioned(tmp_path):
    (tmp_path / "repo").mkdir()
    first, second = compose(
        load(tmp_path / "repo", tmp_path / "home"), " \n", Surroundings("/x", "Darwin", "d"), own="Me."
    )
    assert first == "Me."
    for word in ("Guidelines", "Memory", "branch"):
        assert word not in second
