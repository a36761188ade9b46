"""The law of the fold: any history whatever becomes a request that the API accepts."""

from __future__ import annotations

import itertools

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core import compaction
from codeagent.core.conversation import (
    INTERRUPTED,
    NOT_RUN,
    UNKNOWN,
    Fold,
    digest,
    live,
    messages,
    parameters,
    request,
    standing,
)
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Decided,
    Entry,
    Heard,
    Lost,
    Noted,
    Opened,
    Rewound,
    Switched,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Message, Note, Opaque, Text, Thinking, ToolResult, ToolUse, Usage
from codeagent.core.ports import ModelInfo
from codeagent.core.views import Plain

OPENED = Opened("s1", "/p", ("You are codeagent.",), (), "model-a", 1000)
SMALL = ModelInfo("model-a", "a", window=1000, max_output=200)


def user(text: str) -> UserSaid:
    return UserSaid((Text(text),))


def use(n: int) -> ToolUse:
    return ToolUse(f"u{n}", "bash", {"command": f"echo {n}"})


def problems(said: tuple[Message, ...]) -> list[str]:
    """The API's rules of api.md §4 that concern the shape of the conversation."""
    found: list[str] = []
    if not said:
        return ["no messages"]
    if said[0].role != "user":
        found.append("the first message is not the user's")
    for one, two in itertools.pairwise(said):
        if one.role == two.role:
            found.append("roles do not alternate")
    ids: list[str] = []
    for here, after in zip(said, [*said[1:], None], strict=True):
        calls = [b.id for b in here.blocks if isinstance(b, ToolUse)]
        results = [b.tool_use_id for b in after.blocks if isinstance(b, ToolResult)] if after else []
        ids += calls
        if calls and results != calls:
            found.append(f"calls {calls} are answered by {results}")
        if after and not calls and results:
            found.append("a result without a call")
        if calls and here.role != "assistant":
            found.append("the user calls a tool")
        kinds = [isinstance(b, ToolResult) for b in here.blocks]
        if kinds != sorted(kinds, reverse=True):
            found.append("results do not come first")
        if not here.blocks:
            found.append("an empty message")
        for block in here.blocks:
            if isinstance(block, Text) and not block.text.strip():
                found.append("a blank text")
            if isinstance(block, ToolResult) and any(isinstance(b, Text) and not b.text.strip() for b in block.content):
                found.append("a blank text in a result")
        if here.role == "assistant" and all(isinstance(b, Thinking | Opaque) for b in here.blocks):
            found.append("nothing but thinking")
    if len(ids) != len(set(ids)):
        found.append("an id twice")
    return found


blank_or_text = st.sampled_from(["", " ", "\n", "yes", "look at a.py"])


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Torn, interrupted, parallel, refused, rewound and compacted histories, ready for a request."""
    entries: list[Entry] = [OPENED]
    number = 0
    for _ in range(draw(st.integers(1, 5))):
        entries.append(user(draw(blank_or_text)))
        for _ in range(draw(st.integers(0, 4))):
            calls = tuple(use(number + i) for i in range(draw(st.integers(0, 3))))
            number += len(calls)
            thought = draw(st.sampled_from([(), (Thinking("hm", "sig"),), (Opaque({"type": "redacted_thinking"}),)]))
            said = draw(st.sampled_from([(), (Text(""),), (Text("I look."),), (Text(" "),)]))
            stop = draw(
                st.sampled_from(
                    ["tool_use", "end_turn", "max_tokens", "pause_turn", "refusal", "interrupted", "unknown"]
                )
            )
            entries.append(
                AssistantSaid(
                    (*thought, *said, *calls), stop, Usage(draw(st.integers(0, 900)), 5), void=stop == "refusal"
                )
            )
            for call in draw(st.permutations(calls)):
                fate = draw(st.sampled_from(["done", "refused", "started", "nothing", "steered"]))
                entries.append(Decided(call.id, "bash", "x", "allow", "mode"))
                if fate in ("done", "started", "steered"):
                    entries.append(ToolStarted(call.id, "bash", "x", "x", Plain("")))
                if fate in ("done", "refused", "steered"):
                    entries.append(ToolFinished(call.id, "bash", (Text(draw(blank_or_text)),), fate == "refused"))
                if fate == "steered":
                    entries.append(user("rather so"))
            entries.extend(draw(st.lists(st.sampled_from(NOISE), max_size=2)))
            if draw(st.integers(0, 6)) == 0:
                entries.append(Rewound(draw(st.integers(1, len(entries)))))
            if draw(st.integers(0, 4)) == 0:
                cut = compaction.plan(entries, SMALL, compaction.Policy(keep=draw(st.integers(1, 5))))
                if cut is not None:
                    entries.append(Compacted("All so far.", cut.keep_from, ("A note.",)))
        if draw(st.booleans()):
            entries.append(TurnEnded(draw(st.sampled_from(["done", "interrupted", "failed", "valve", "refused"]))))
    torn = entries[: draw(st.integers(1, len(entries)))]
    return [*torn, user("go on")]


NOISE: list[Entry] = [
    Noted("The file CLAUDE.md changed.", to="model"),
    Noted("Saved.", to="person"),
    Noted("", to="both"),
    Heard("words on record"),
    Lost("a bad checksum"),
    Switched(mode="plan"),
]


@settings(max_examples=400)
@given(histories())
def test_any_history_folds_to_a_request_that_the_api_accepts(entries: list[Entry]) -> None:
    assert problems(request(entries).messages) == []


@settings(max_examples=150)
@given(histories(), st.integers(0, 40))
def test_what_was_sent_is_never_edited(entries: list[Entry], at: int) -> None:
    """Without a compaction or a rewind, a later request extends an earlier one that ended in whole exchanges."""
    plain = [e for e in entries if not isinstance(e, Compacted | Rewound)]
    early = plain[: max(2, min(at, len(plain)))]
    before, after = messages([*early, user("x")])[:-1], messages(plain)
    settled = before[:-1]
    assert after[: len(settled)] == settled


@settings(max_examples=100)
@given(histories())
def test_the_fold_is_pure_and_survives_the_log(entries: list[Entry]) -> None:
    again = [msgspec.json.decode(msgspec.json.encode(e), type=Entry) for e in entries]
    assert digest(request(again)) == digest(request(entries))


@settings(max_examples=300)
@given(histories())
def test_folding_as_it_grows_is_folding_from_the_start(entries: list[Entry]) -> None:
    fold = Fold()
    for length in range(1, len(entries) + 1):
        assert fold.messages(entries[:length]) == messages(entries[:length])


def test_an_unanswered_call_is_told_as_not_run_or_unknown() -> None:
    entries: list[Entry] = [
        OPENED,
        user("go"),
        AssistantSaid((use(1), use(2)), "tool_use"),
        ToolStarted("u2", "bash", "x", "x", Plain("")),
        user("again"),
    ]
    results = messages(entries)[2].blocks
    assert results[0] == ToolResult("u1", (Text(NOT_RUN),), True)
    assert results[1] == ToolResult("u2", (Text(UNKNOWN),), True)
    assert results[2] == Text("again")


def test_results_come_in_the_order_of_the_calls() -> None:
    entries: list[Entry] = [
        OPENED,
        user("go"),
        AssistantSaid((use(1), use(2)), "tool_use"),
        ToolFinished("u2", "bash", (Text("two"),)),
        ToolFinished("u1", "bash", (Text("one"),)),
    ]
    assert messages(entries)[2].blocks == (ToolResult("u1", (Text("one"),)), ToolResult("u2", (Text("two"),)))


def test_a_refused_reply_is_never_sent_back() -> None:
    entries: list[Entry] = [OPENED, user("a"), AssistantSaid((Text("par"),), "refusal", void=True), user("b")]
    assert messages(entries) == (Message("user", (Text("a"), Text("b"))),)


def test_an_interrupt_is_told_once_at_its_place() -> None:
    entries: list[Entry] = [
        OPENED,
        user("a"),
        AssistantSaid((Text("half a"),), "interrupted"),
        TurnEnded("interrupted"),
        user("b"),
    ]
    assert messages(entries)[-1].blocks == (Note(INTERRUPTED), Text("b"))


def test_a_paused_reply_goes_back_unchanged_and_grows() -> None:
    server = Opaque({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}})
    entries: list[Entry] = [OPENED, user("a"), AssistantSaid((server,), "pause_turn")]
    assert messages(entries)[-1] == Message("assistant", (server,))
    more: list[Entry] = [*entries, AssistantSaid((Text("found"),), "end_turn")]
    assert messages(more)[-1] == Message("assistant", (server, Text("found")))


def test_compaction_keeps_the_tail_without_its_thinking() -> None:
    entries: list[Entry] = [
        OPENED,
        user("old"),
        AssistantSaid((Text("done"),)),
        user("new"),
        AssistantSaid((Thinking("t", "s"), use(1)), "tool_use"),
        ToolFinished("u1", "bash", (Text("r"),)),
        Compacted("sum", 3, ("todo: x",)),
        AssistantSaid((Thinking("t2", "s2"), Text("fine"))),
        user("next"),
    ]
    first, reply, answer, last, _ = messages(entries)
    assert first.blocks == (Text("sum"), Note("todo: x"), Text("new"))
    assert reply.blocks == (use(1),)
    assert answer.blocks == (ToolResult("u1", (Text("r"),)),)
    assert last.blocks == (Thinking("t2", "s2"), Text("fine"))


def test_a_rewind_can_be_undone() -> None:
    entries: list[Entry] = [OPENED, user("a"), AssistantSaid((Text("A"),)), user("b"), Rewound(1), user("c")]
    assert messages(entries) == (Message("user", (Text("c"),)),)
    undone: list[Entry] = [*entries, Rewound(4)]
    assert live(undone) == [0, 1, 2, 3]


def test_switches_outlive_a_rewind() -> None:
    entries: list[Entry] = [OPENED, user("a"), Switched(model="m2", without=("effort",)), Rewound(1), user("b")]
    assert request(entries).model == "m2"
    assert request(entries).without == ("effort",)


def test_parameters_are_the_last_word() -> None:
    now = parameters([OPENED, Switched(mode="plan"), Switched(effort="high"), Switched(without=("a",), by="server")])
    assert (now.mode, now.effort, now.without) == ("plan", "high", ("a",))


def test_a_person_is_shown_the_mode_that_a_rewind_left() -> None:
    entries: list[Entry] = [OPENED, Switched(mode="acceptEdits"), user("hi"), Switched(mode="default")]
    assert standing(entries) == entries
    *shown, last = standing([*entries, Rewound(2)])
    assert shown == entries[:2]
    assert last == Switched(mode="default", why="the rewind left it so")
