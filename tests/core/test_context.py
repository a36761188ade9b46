"""The bill of a request: every block is on it, and it adds up to what the provider counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.budget import Meter
from codeagent.core.context import CATEGORIES, Bill, Headings, Item, bill, cells
from codeagent.core.events import Asked, AssistantSaid, ToolFinished, TurnEnded
from codeagent.core.messages import Message, Note, Request, Text, ToolResult, ToolSchema, ToolUse, Usage
from codeagent.core.ports import ModelInfo, Price

GUIDELINES, MEMORY = "# Guidelines", "# Memory"
HEADINGS = Headings(GUIDELINES, MEMORY)
INFO = ModelInfo("m", "M", 100_000, 10_000, Price(2, 10, 2.5, 4, 0.2, "2026-11-29"), chars_per_token=4)

SYSTEM = f"""Surroundings: here

{GUIDELINES}

## /p/CLAUDE.md

use tabs

## /p/AGENTS.md

# Style

{MEMORY}

- [a](a.md) - b"""

ASKED = Request(
    "m",
    ("You are a programmer.", SYSTEM),
    (ToolSchema("read", "Reads a file.", {"type": "object"}),),
    (
        Message("user", (Text("fix it"), Note("plan mode"))),
        Message("assistant", (Text("I look."), ToolUse("1", "read", {"file_path": "a"}))),
        Message("user", (ToolResult("1", (Text("x" * 4000),)),)),
    ),
    1000,
)


def test_each_block_is_on_the_bill() -> None:
    names = {f"{item.category}: {item.name}" for item in bill(ASKED, INFO, HEADINGS, 80_000).items}
    assert names >= {
        "tools: read",
        "guidelines: /p/CLAUDE.md",
        "guidelines: /p/AGENTS.md",
        "memory: MEMORY.md",
        "tool results: read",
        "conversation: your words",
        "conversation: notes of codeagent",
        "conversation: its calls",
    }


def test_half_a_character_has_a_place_on_the_bill() -> None:
    odd = Message("assistant", (ToolUse("2", "read", {"file_path": "a\udcff"}),))
    made = bill(replace(ASKED, messages=(*ASKED.messages, odd)), INFO, HEADINGS, 80_000)
    assert made.of("conversation") > bill(ASKED, INFO, HEADINGS, 80_000).of("conversation")


def test_it_adds_up_to_what_was_counted_and_is_priced() -> None:
    made = bill(ASKED, INFO, HEADINGS, 80_000, measured=20_000)
    assert 19_980 <= made.used <= 20_000
    assert made.used + made.free + made.reserve == made.window
    assert made.reserve == 20_000
    assert made.warm is not None
    assert abs(made.warm - made.used * 0.2 / 1e6) < 1e-9
    assert made.cold is not None
    assert abs(made.cold - made.used * 2.5 / 1e6) < 1e-9
    unknown = bill(ASKED, ModelInfo("m", "M", 100_000, 10_000), HEADINGS, 80_000)
    assert unknown.warm is None
    assert unknown.items[0].dollars is None


def test_a_prompt_beyond_the_limit_leaves_nothing_free() -> None:
    made = bill(ASKED, INFO, HEADINGS, 80_000, measured=95_000)
    assert made.free == 0
    assert made.used + made.reserve <= made.window


@given(st.lists(st.integers(0, 90_000), min_size=6, max_size=6), st.integers(10, 400))
def test_the_grid_has_as_many_cells_as_wanted_in_order(tokens: list[int], count: int) -> None:
    items = tuple(Item(kind, "x", size, None) for kind, size in zip(CATEGORIES, tokens, strict=False) if size)
    made = Bill(600_000, sum(tokens), max(0, 500_000 - sum(tokens)), 50_000, items, True, None, None)
    drawn = cells(made, count)
    assert len(drawn) == count
    assert list(drawn) == sorted(drawn, key=CATEGORIES.index)
    assert all(made.of(kind) for kind in drawn)


def test_the_meter_tells_step_turn_and_session_apart() -> None:
    meter = Meter()

    def step(cost: float | None) -> None:
        meter.see(Asked(1, "m", "", "", "", 1, 10))
        meter.see(AssistantSaid((), usage=Usage(100, 10), cost=cost, took_ms=5))
        meter.see(ToolFinished("1", "read", ()))

    step(0.1)
    step(0.2)
    meter.see(TurnEnded("done", took_ms=50))
    assert (round(meter.turn.known_cost, 6), meter.turn.requests, meter.turn.took_ms) == (0.3, 2, 50)
    step(None)
    assert (meter.step.cost, meter.turn.cost, meter.cost) == (None, None, None)
    assert (meter.turn.usage.total, meter.usage.total) == (110, 330)
    assert (meter.turn.tool_calls, meter.tool_calls) == (1, 3)
