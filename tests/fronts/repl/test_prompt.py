"""What the line editor offers and remembers."""

from __future__ import annotations

from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from codeagent.fronts.repl.prompt import Completions, Kept, matching

FILES = ("shop/cart.py", "tests/test_cart.py", "README.md", "shop/discount/carat.txt")


def offered(text: str) -> list[str]:
    completions = Completions(lambda: FILES).get_completions(Document(text), CompleteEvent())
    return [completion.text for completion in completions]


def test_commands_only_at_the_beginning_of_a_line() -> None:
    assert offered("/mod") == ["/model", "/mode"]
    assert offered("say /mod") == []
    assert offered("/mode pl") == []


def test_files_after_an_at_anywhere() -> None:
    assert offered("look at @READ") == ["@README.md"]
    assert offered("look at @nothing-like-it") == []
    assert offered("look at README") == []
    assert offered("@") == [f"@{path}" for path in matching("", FILES)]


def test_names_that_begin_so_come_first_then_those_that_hold_it_then_its_letters_in_order() -> None:
    assert matching("cart", FILES) == ["shop/cart.py", "tests/test_cart.py", "shop/discount/carat.txt"]
    assert matching("crt", FILES) == ["shop/cart.py", "tests/test_cart.py", "shop/discount/carat.txt"]


def test_history_gives_the_newest_first(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "history.jsonl")
    kept.store_string("first")
    kept.store_string("second")
    assert list(kept.load_history_strings()) == ["second", "first"]


def test_history_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.store_string("said")
    assert list(kept.load_history_strings()) == []
