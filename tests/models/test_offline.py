"""The offline stand-in: a few orders become real calls, and it never pretends to be a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from codeagent.core.events import AssistantSaid, Compacted
from codeagent.core.messages import Message, Note, Request, Text
from codeagent.models.offline import Offline
from tests.models.talks import agent, answered, asked, heard, reply

MODEL = Offline()


async def say(words: str) -> AssistantSaid:
    return await reply(MODEL, asked(words))


@pytest.mark.parametrize(
    ("words", "name", "given"),
    [
        ("read README.md", "read", {"file_path": "README.md"}),
        ("  Read `a b.txt` ", "read", {"file_path": "a b.txt"}),
        ("find a.b(", "grep", {"pattern": r"a\.b\(", "output_mode": "content"}),
        ("find 'x y' in src", "grep", {"pattern": r"x\ y", "output_mode": "content", "path": "src"}),
        ("search for TODO", "grep", {"pattern": "TODO", "output_mode": "content"}),
        ("list **/*.py", "glob", {"pattern": "**/*.py"}),
        ("run make test && echo ok", "bash", {"command": "make test && echo ok"}),
        ("replace 'a' with 'b' in f.py", "read", {"file_path": "f.py"}),
    ],
)
async def test_an_order_becomes_a_call(words: str, name: str, given: Mapping[str, Any]) -> None:
    said = await say(words)
    assert [(use.name, use.input) for use in said.uses] == [(name, given)]
    assert said.stop == "tool_use"


@pytest.mark.parametrize("words", ["help", "please fix my bug", "", "read", "replace a with b in c"])
async def test_anything_else_is_met_with_the_plain_truth(words: str) -> None:
    said = await say(words)
    assert said.stop == "end_turn"
    assert not said.uses
    assert "not a language model" in said.text
    assert "run COMMAND" in said.text


async def test_replace_reads_then_edits_then_tells() -> None:
    order = 'replace "it\'s" with "it is" in f.py'
    first = await say(order)
    history = (order, *answered(first, "1\tit's"))
    second = await reply(MODEL, asked(*history))
    assert [(use.name, use.input) for use in second.uses] == [
        ("edit", {"file_path": "f.py", "old_string": "it's", "new_string": "it is"})
    ]
    assert second.uses[0].id != first.uses[0].id
    third = await reply(MODEL, asked(*history, *answered(second, "Edited f.py.")))
    assert third.text == "Edited f.py."


async def test_a_failed_call_ends_the_order_and_says_why() -> None:
    first = await say("replace 'a' with 'b' in f.py")
    said = await reply(MODEL, asked("replace 'a' with 'b' in f.py", *answered(first, "There is no f.py.", error=True)))
    assert said.text == "That did not work.\n\n    There is no f.py."


async def test_what_is_there_more_than_once_can_all_be_changed() -> None:
    order = "replace 'a' with 'b' in f.py"
    found = "old_string was found 3 times. Add lines around the one that you mean, or set replace_all."
    said = await reply(MODEL, asked(order, *answered(await say(order), found, error=True)))
    assert "`replace all ... with ... in FILE`" in said.text
    assert all(len(line) <= 80 for line in said.text.splitlines())
    assert " ".join(said.text.split()).count(found) == 1
    order = "replace all 'a' with 'b' in f.py"
    [edit] = (await reply(MODEL, asked(order, *answered(await say(order), "1\ta")))).uses
    assert edit.input["replace_all"] is True


@pytest.mark.parametrize(
    ("words", "result", "told"),
    [
        ("read f", "1\ta\n2\tb", "`read` gave 2 lines of f."),
        ("find x", "a:1:x", "`grep` says:\n\n    a:1:x"),
        ("list *", "\n".join("abcdefg"), "`glob` says:\n\n    a\n    b\n    c\n    d\n    e\n    … 2 more"),
        ("run x", "\n".join("abcdefg"), "`bash` says:\n\n    … 2 more\n    c\n    d\n    e\n    f\n    g"),
    ],
)
async def test_results_are_summed_up(words: str, result: str, told: str) -> None:
    first = await say(words)
    assert (await reply(MODEL, asked(words, *answered(first, result)))).text == told


async def test_words_that_come_with_results_are_the_new_order() -> None:
    first = await say("read a")
    said = await reply(MODEL, asked("read a", *answered(first, "1\ta", words="read b")))
    assert said.uses[0].input == {"file_path": "b"}


async def test_notes_are_no_orders() -> None:
    told = Message("user", (Note("run rm -rf x"), Text("read a")))
    assert (await reply(MODEL, asked(told))).uses[0].name == "read"


async def test_it_is_deterministic_and_free() -> None:
    request: Request = asked("read a")
    assert await heard(MODEL, request) == await heard(MODEL, request)
    assert (await reply(MODEL, request)).cost == 0.0
    assert MODEL.info("offline").short == "offline"


async def test_a_compaction_gets_the_orders_so_far() -> None:
    talk = agent(MODEL)
    for words in ("help", "help me", "what?"):
        await talk.say(words)
    assert await talk.compact()
    summary = next(e.summary for e in talk.journal.entries if isinstance(e, Compacted))
    assert "cannot sum up. The orders so far:\n\n    help\n    help me\n    what?" in summary
