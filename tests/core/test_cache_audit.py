"""A missed cache: the block at fault is named, or the switch, or the time; and what it cost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from codeagent.core.cache_audit import CacheAudit, Exchange, difference, missed
from codeagent.core.events import Asked, AssistantSaid, Compacted, Noted, Switched, UserSaid
from codeagent.core.messages import Message, Request, Text, ToolSchema, Usage
from codeagent.core.ports import Price
from tests.core.stage import Stage, say

PRICE = Price(2, 10, 2.5, 4, 0.2)
READ = ToolSchema("read", "Reads.", {"type": "object"})
BASH = ToolSchema("bash", "Runs.", {"type": "object"})
ONE = Request(
    "m", ("rules", "# Guidelines\n\n## /p/CLAUDE.md\n\nuse tabs"), (READ, BASH), (Message("user", (Text("go"),)),), 1000
)
MORE = (*ONE.messages, Message("assistant", (Text("yes"),)), Message("user", (Text("on"),)))
TWO = replace(ONE, messages=MORE)

CHANGED = {
    "the model was switched from m to n": replace(TWO, model="n"),
    "the description of the tool bash changed": replace(TWO, tools=(READ, replace(BASH, description="Ran."))),
    "the input schema of the tool bash changed": replace(TWO, tools=(READ, replace(BASH, input_schema={}))),
    "the tool bash is gone": replace(TWO, tools=(READ,)),
    "the tool grep was added": replace(TWO, tools=(READ, BASH, ToolSchema("grep", "", {}))),
    "the order of the tools changed": replace(TWO, tools=(BASH, READ)),
    "block 2 of the system prompt changed in line 5, below /p/CLAUDE.md": replace(
        TWO, system=("rules", "# Guidelines\n\n## /p/CLAUDE.md\n\nuse blanks")
    ),
    "the effort was changed from usual to high": replace(TWO, effort="high"),
    "the server refused a feature (cache_1h)": replace(TWO, without=("cache_1h",)),
    "message 1 changed: a block of kind text": replace(TWO, messages=(Message("user", (Text("GO"),)), *MORE[1:])),
}


@pytest.mark.parametrize("words", CHANGED)
def test_the_block_at_fault_is_named(words: str) -> None:
    found = difference(ONE, CHANGED[words])
    assert found is not None
    assert words in found.words


def test_a_request_that_extends_the_one_before_has_no_fault() -> None:
    assert difference(ONE, TWO) is None


def test_a_miss_has_its_price() -> None:
    before = Exchange(ONE, Usage(0, 10, cache_read=40_000, cache_write=10_000), ended=1000)
    now = Exchange(CHANGED["the tool bash is gone"], Usage(0, 10, cache_write=50_500))
    miss = missed(before, now, 1001, PRICE)
    assert miss is not None
    assert (miss.tokens, miss.dollars) == (50_000, pytest.approx(50_000 * 2.3 / 1e6))


def test_time_and_the_server_are_told_apart() -> None:
    before, now = Exchange(ONE, Usage(cache_write=9000), ended=1000), Exchange(TWO, Usage(cache_write=9100))
    late, soon = missed(before, now, 1000 + 360, None), missed(before, now, 1010, None, "unavailable")
    assert late is not None
    assert late.cause.words == "6 min passed, and entries live 5 min"
    assert soon is not None
    assert soon.cause.kind == "server"
    assert "unavailable" in soon.cause.words
    assert soon.dollars is None
    hour = Exchange(replace(ONE, cache="1h"), before.usage, 1000)
    within = missed(hour, now, 1000 + 360, None)
    assert within is not None
    assert within.cause.kind == "server"


@pytest.mark.parametrize("read", [8900, 9000, 20_000])
def test_what_was_read_is_no_miss(read: int) -> None:
    assert missed(Exchange(ONE, Usage(cache_write=9000)), Exchange(TWO, Usage(cache_read=read)), 0, PRICE) is None


def cached(text: str, **usage: int) -> AssistantSaid:
    return say(text, usage=Usage(**usage))


async def test_a_person_is_told_once_and_nothing_after_a_compaction() -> None:
    stage = Stage(cached("a", cache_write=9000), cached("b", cache_write=9500), cached("c", cache_read=9500))
    await stage.agent.say("one")
    stage.journal.append(Switched(effort="high"))
    await stage.agent.say("two")
    await stage.agent.say("three")
    told = [e.text for e in stage.of(Noted) if e.topic == "cache"]
    assert len(told) == 1
    assert "9,000 tokens was missed: the effort was changed" in told[0]
    audit = CacheAudit(stage.journal.entries)
    audit.see(Compacted("s", 1))
    assert not list(audit.heard(ONE, cached("d", cache_write=9000), 0, None))


def test_the_first_exchange_after_a_resume_is_compared_too() -> None:
    stage = Stage()
    entries = [*stage.journal.entries, UserSaid((Text("go"),)), Asked(1, "m", "", "", "", 1, 10)]
    entries.append(cached("a", cache_write=9000))
    asked = replace(ONE, model="other")
    told = list(CacheAudit(entries).heard(asked, cached("b", cache_write=9000), 0, None))
    assert "the model was switched from m to other" in told[0].text
