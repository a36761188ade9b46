"""Our own credentials never get into the journal, nor on a screen, whole or in pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.events import (
    AssistantSaid,
    CallDelta,
    Event,
    Heard,
    Queued,
    Raw,
    Retried,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    TurnEnded,
    UserSaid,
)
from codeagent.core.journal import Journal
from codeagent.core.messages import Text
from codeagent.core.views import Shell
from codeagent.core.withheld import INSTEAD, Values, Withheld

KEY = 'sk-"quoted"-key'


def seen(events: Sequence[Event], *secrets: str) -> tuple[list[Event], list[Event]]:
    """What is shown and what is recorded of these events."""
    written: list[Event] = []
    journal = Journal((), written.append, Withheld(secrets))
    shown: list[Event] = []
    journal.watch(shown.append)
    for event in events:
        journal.append(event)
    return shown, written


def told(event: Event, *secrets: str) -> tuple[Event, list[Event]]:
    """What is shown and what is recorded of an event."""
    shown, written = seen([event], *secrets)
    return shown[0], written


def test_a_result_is_recorded_and_shown_without_the_key() -> None:
    result = ToolFinished(
        "u", "bash", (Text(f"a {KEY} b"), Text("plain")), view=Shell("cat x", "/p", f"a {KEY}"), summary=KEY
    )
    shown, written = told(result, KEY)
    assert written == [shown]
    assert isinstance(shown, ToolFinished)
    assert shown.blocks == (Text(f"a {INSTEAD} b"), Text("plain"))
    assert shown.view == Shell("cat x", "/p", f"a {INSTEAD}")
    assert shown.summary == INSTEAD


def test_signals_and_lone_surrogates_too() -> None:
    assert told(ToolProgress("u", f"x{KEY}"), KEY)[0] == ToolProgress("u", f"x{INSTEAD}")
    assert told(TextDelta(KEY), KEY)[0] == TextDelta(INSTEAD)
    assert told(Raw({"delta": {"text": KEY}}), KEY)[0] == Raw({"delta": {"text": INSTEAD}})
    assert told(UserSaid((Text(f"\ud800 {KEY}"),)), KEY)[0] == UserSaid((Text(f"\ud800 {INSTEAD}"),))


def test_what_holds_no_secret_is_the_same_object() -> None:
    said = UserSaid((Text("hello"),))
    assert told(said, KEY)[0] is said
    assert told(said)[0] is said
    assert told(UserSaid((Text("a short one"),)), "short")[0] == UserSaid((Text("a short one"),))


def words(events: Sequence[Event]) -> str:
    """What these pieces say together."""
    return "".join(
        str(next(iter(each.event["delta"].values()))) if isinstance(each, Raw) else getattr(each, "text", "")
        for each in events
    )


def raw(kind: str, text: str, index: int = 0) -> Raw:
    return Raw({"type": "content_block_delta", "index": index, "delta": {kind: text}})


PIECES: dict[str, Callable[[str], Event]] = {
    "text": TextDelta,
    "thinking": ThinkingDelta,
    "heard": Heard,
    "progress": lambda text: ToolProgress("u", text),
    "raw": lambda text: raw("text", text),
    "input": lambda text: raw("partial_json", text),
}
ENDS: dict[str, Event] = {
    "reply": AssistantSaid((), "end_turn"),
    "retry": Retried(1, 3, 0.0, "again"),
    "turn": TurnEnded("failed"),
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("key", ["sk-ant-0123456789", KEY, "aaaaaaaaab"])
def test_a_key_in_pieces_is_seen_nowhere(piece: str, key: str) -> None:
    """Cut at every place, and in single characters."""
    spelt = json.dumps(key)[1:-1] if piece == "input" else key
    text = f"key: {spelt} or {spelt[:6]}, {spelt}"
    whole = f"key: {INSTEAD} or {spelt[:6]}, {INSTEAD}"
    cuts = [[text[:at], text[at:]] for at in range(1, len(text))] + [list(text)]
    for pieces in cuts:
        shown, written = seen([*map(PIECES[piece], pieces), PIECES[piece](" "), TurnEnded("done")], key)
        assert words(shown[:-1]) == f"{whole} "
        assert words(written[:-1]) == (f"{whole} " if piece == "heard" else "")
        assert not any(key[:9] in repr(each) for each in shown)


@pytest.mark.parametrize("end", ENDS)
def test_what_was_held_back_and_is_no_key_is_told_before_the_end(end: str) -> None:
    shown, _ = seen([TextDelta("a sk-"), ENDS[end]], "sk-ant-0123456789")
    assert shown == [TextDelta("a "), TextDelta("sk-"), ENDS[end]]


def test_half_a_key_in_the_words_on_record_does_not_stay_there() -> None:
    """Words are put on record now and then; what follows the last time is only in the reply."""
    key = "sk-ant-0123456789"
    said = AssistantSaid((Text(f"It is {key}."),), "end_turn")
    _, written = seen([Heard("It is "), Heard(key[:12]), said], key)
    assert written == [Heard("It is "), AssistantSaid((Text(f"It is {INSTEAD}."),), "end_turn")]


def test_each_stream_is_held_by_itself() -> None:
    key = "sk-ant-0123456789"
    left, right = key[:7], key[7:]
    shown, written = seen(
        [
            ToolProgress("a", left),
            ToolProgress("b", f"{right} "),
            TextDelta(left),
            Queued("q", "meanwhile"),
            raw("text", left),
            Raw({"type": "ping"}),
            Heard(left),
            TextDelta(right),
            raw("text", right),
            Heard(right),
            ToolProgress("a", right),
            TextDelta("s"),
            CallDelta("c", "bash", 0),
            raw("text", "s"),
            Raw({"type": "content_block_stop", "index": 0}),
            ToolProgress("b", "sk"),
            ToolFinished("b", "bash", (Text("done"),)),
        ],
        key,
    )
    assert [each for each in shown if isinstance(each, ToolProgress)] == [
        ToolProgress("b", f"{right} "),
        ToolProgress("a", INSTEAD),
        ToolProgress("b", "sk"),
    ]
    assert [each.text for each in shown if isinstance(each, TextDelta)] == [INSTEAD, "s"]
    assert Heard(INSTEAD) in written
    raws = [each.event for each in shown if isinstance(each, Raw)]
    assert raws == [
        {"type": "ping"},
        raw("text", INSTEAD).event,
        raw("text", "s").event,
        {"type": "content_block_stop", "index": 0},
    ]


SOUP = st.text(alphabet="ab", max_size=40)


@given(st.lists(st.text(alphabet="ab", min_size=8, max_size=12), min_size=1, max_size=3), st.lists(SOUP, max_size=6))
def test_pieces_come_out_as_the_whole_would(secrets: list[str], pieces: list[str]) -> None:
    shown, _ = seen([*map(TextDelta, pieces), TurnEnded("done")], *secrets)
    assert words(shown[:-1]) == Values(secrets).without("".join(pieces))
