"""Figures and events in words."""

from __future__ import annotations

import pytest

from codeagent.core.budget import Meter
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Compacted,
    Event,
    Lost,
    Noted,
    Retried,
    Rewound,
    Switched,
    TurnEnded,
    ValveClosed,
)
from codeagent.core.messages import Text, ToolUse, Usage
from codeagent.fronts import calls, present


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (present.count(1, "line"), "1 line"),
        (present.count(1204, "line"), "1,204 lines"),
        (present.short(950), "950"),
        (present.short(4100), "4.1k"),
        (present.short(2_000_000), "2M"),
        (present.money(None), "unknown price"),
        (present.money(0), "$0.00"),
        (present.money(0.0003), "$0.0003"),
        (present.money(1.239), "$1.24"),
        (present.seconds(400), "0.4 s"),
        (present.seconds(12_000), "12 s"),
        (present.seconds(200_000), "3 min 20 s"),
        (present.age(100, 50), "just now"),
        (present.age(0, 300), "5 min ago"),
        (present.age(0, 2 * 86400), "2 days ago"),
    ],
)
def test_figures(shown: str, wanted: str) -> None:
    assert shown == wanted


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (Noted("Look here"), ("info", "Look here")),
        (Noted("for the model", to="model"), None),
        (Noted(""), None),
        (Retried(2, 6, 4, "Overloaded"), ("warning", "Overloaded. Trying again in 4 s (2 of 6).")),
        (Switched(mode="plan", model="m"), ("info", "mode: plan, model: m")),
        (Switched(mode="plan", by="resume"), None),
        (
            Compacted("s", 1, before_tokens=9000, after_tokens=800),
            ("info", "Conversation summed up: 9k tokens became 800. Nothing is lost."),
        ),
        (Rewound(1), ("info", "Went back to an earlier point of the conversation.")),
        (ValveClosed("steps", "Used 40 of 50 steps.", warning=True), ("warning", "Used 40 of 50 steps.")),
        (ValveClosed("steps", "Stopped after 50 steps.", raised=100), ("warning", "Stopped after 50 steps. Going on.")),
        (ValveClosed("steps", "Stopped after 50 steps."), None),
        (TurnEnded("valve", "Stopped after 50 steps."), ("warning", "Stopped after 50 steps.")),
        (TurnEnded("done"), None),
        (Lost("torn"), ("warning", "A line of the session log could not be read: torn.")),
    ],
)
def test_notices(event: Event, wanted: tuple[str, str] | None) -> None:
    assert present.notice(event) == wanted


def test_the_closing_line() -> None:
    meter = Meter([Asked(1, "m", "", "", "", 1, 9), AssistantSaid((), usage=Usage(360, 120, 3640), cost=0.012)])
    assert present.closing(meter, 1, 3200) == "1 tool step, 1 request, 4,120 tokens (91 % cached), $0.01, 3.2 s"
    assert present.standing("default", "m", meter, 10_000) == "default, m, context 41 %, $0.01"


def test_calls_are_spelled_on_one_line_of_bounded_length() -> None:
    use = ToolUse("1", "bash", {"command": "echo a\n\x1b[2J" + "x" * 500})
    text = calls.spelled(use.name, use.input)
    assert text.startswith('bash(command="echo a\\n')
    assert len(text) < 220
    assert "\x1b" not in text
    assert calls.subject(use, 20) == "echo a⏎\\x1b[2Jxxxxx…"
    assert calls.subject(ToolUse("1", "todo", {"todos": []})) == ""


def test_the_first_line_that_says_something() -> None:
    from codeagent.core.events import ToolFinished

    assert calls.first_line(ToolFinished("1", "bash", (Text("\n=====\n  FAILED x\n"),))) == "FAILED x"
    assert calls.first_line(ToolFinished("1", "bash", ())) == "(no output)"
