"""The loop: what it does with each stop reason, with failing tools, interrupts, steering, and its valves."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from codeagent.core.effects import Answer
from codeagent.core.errors import ContextOverflow, ModelBusy, ModelUnavailable, RequestRejected
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Compacted,
    Heard,
    Noted,
    Queued,
    Switched,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
    ValveClosed,
)
from codeagent.core.messages import Note, Text, ToolResult, ToolUse, Usage
from codeagent.core.valves import Limits
from tests.core.stage import Person, Stage, call, say


async def test_a_turn_runs_calls_until_nothing_is_asked_for() -> None:
    stage = Stage(say("first", call("a"), call("b", answer="two")), say("done"))
    await stage.agent.say("go")
    kinds = [type(e).__name__ for e in stage.journal.entries]
    assert kinds[:4] == ["Opened", "Titled", "UserSaid", "Asked"]
    assert kinds[-1] == "TurnEnded"
    assert stage.of(TurnEnded)[0].why == "done"
    answer = stage.model.asked[1].messages[2].blocks
    assert answer == (ToolResult("a", (Text("seen"),)), ToolResult("b", (Text("two"),)))


async def test_low_calls_run_side_by_side_and_others_in_order() -> None:
    uses = [call("1", seconds=0.05), call("2", seconds=0.05), call("3", "change", answer="x"), call("4", seconds=0.05)]
    stage = Stage(say("", *uses), mode="acceptEdits")
    stage.gate.mode = "bypass"
    await stage.agent.say("go")
    assert stage.look.most == 2
    assert [e.use_id for e in stage.of(ToolStarted)] == ["1", "2", "3", "4"]
    started = [type(e).__name__ + e.use_id for e in stage.journal.entries if isinstance(e, ToolStarted | ToolFinished)]
    assert started.index("ToolFinished2") < started.index("ToolStarted3")
    assert started.index("ToolFinished3") < started.index("ToolStarted4")


async def test_one_failing_call_never_cancels_another() -> None:
    uses = [
        call("bug", fault="bug"),
        call("ok", seconds=0.02),
        call("plan", fault="plan"),
        call("none", "nosuch"),
        call("bad", seconds="long"),
        ToolUse("cut", "look", {}, malformed='{"answer": "x'),
    ]
    stage = Stage(say("", *uses), say("fine"))
    await stage.agent.say("go")
    results = stage.results()
    assert not results["ok"].is_error
    said = {id_: r.blocks[0].text for id_, r in results.items() if r.is_error and isinstance(r.blocks[0], Text)}
    assert "a bug in a tool" in said["bug"]
    assert said["plan"] == "plan says no"
    assert "change, look" in said["none"]
    assert "seconds" in said["bad"]
    assert "JSON" in said["cut"]
    assert stage.of(TurnEnded)[0].why == "done"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (say("x", stop="stop_sequence"), "done"),
        (say("x", stop="unknown"), "failed"),
        (say("par", stop="refusal"), "refused"),
    ],
)
async def test_each_stop_reason_ends_as_it_should(reply: AssistantSaid, why: str) -> None:
    stage = Stage(reply)
    await stage.agent.say("go")
    assert stage.of(TurnEnded)[0].why == why
    assert len(stage.model.asked) == 1


async def test_a_refusal_runs_nothing_and_is_not_sent_back() -> None:
    stage = Stage(say("x", call("a"), stop="refusal"), say("ok"))
    await stage.agent.say("go")
    await stage.agent.say("other words")
    assert stage.look.ran == []
    assert [m.role for m in stage.model.asked[1].messages] == ["user"]


async def test_a_pause_goes_on_five_times_at_most() -> None:
    stage = Stage(*[say("p", stop="pause_turn")] * 9)
    await stage.agent.say("go")
    assert len(stage.model.asked) == 6
    assert stage.of(TurnEnded)[0].why == "failed"


async def test_a_cut_call_is_asked_again_with_all_the_room_there_is() -> None:
    stage = Stage(say("x", stop="max_tokens", cut=("change",)), say("ok"))
    await stage.agent.say("go")
    first, second = stage.model.asked
    assert second.max_tokens == 64_000 > first.max_tokens
    assert second.messages == first.messages


async def test_a_call_cut_at_the_limit_is_told_to_be_smaller() -> None:
    big = Switched(max_tokens=64_000)
    stage = Stage(say("some", stop="max_tokens", cut=("change",)), say("ok"))
    stage.journal.append(big)
    await stage.agent.say("go")
    note = stage.model.asked[1].messages[-1].blocks[0]
    assert isinstance(note, Note)
    assert "smaller pieces" in note.text
    assert "change" in note.text


async def test_an_empty_reply_is_asked_once_more_then_given_up() -> None:
    stage = Stage(say(""), say(""))
    await stage.agent.say("go")
    assert len(stage.model.asked) == 2
    assert stage.of(TurnEnded)[0].why == "failed"


async def test_a_feature_that_the_server_refuses_is_dropped_for_the_session() -> None:
    refused = RequestRejected("effort is not supported", category="feature_refused", status=400, feature="effort")
    stage = Stage(refused, say("ok"))
    await stage.agent.say("go")
    assert stage.model.asked[1].without == ("effort",)
    assert stage.of(Switched)[0].by == "server"
    assert stage.of(TurnEnded)[0].why == "done"


async def test_the_same_refusal_twice_is_a_failure() -> None:
    def refused() -> RequestRejected:
        return RequestRejected("no", category="feature_refused", status=400, feature="effort")

    stage = Stage(refused(), refused(), say("never"))
    await stage.agent.say("go")
    assert stage.of(TurnEnded)[0].why == "failed"
    assert len(stage.model.asked) == 2


async def test_model_trouble_ends_the_turn_with_its_category() -> None:
    stage = Stage(ModelUnavailable("no key", category="authentication_failed", status=401))
    await stage.agent.say("go")
    ended = stage.of(TurnEnded)[0]
    assert (ended.why, ended.category, ended.status, ended.detail) == ("failed", "authentication_failed", 401, "no key")


async def test_the_next_turn_after_a_failure_is_valid() -> None:
    stage = Stage(ModelBusy("overloaded", category="overloaded"), say("ok"))
    await stage.agent.say("one")
    await stage.agent.say("two")
    assert stage.model.asked[1].messages[0].blocks == (Text("one"), Text("two"))


async def test_an_interrupt_while_words_stream_keeps_them() -> None:
    stage = Stage(say("half a sen", stop="interrupted"), say("ok"))
    turn = asyncio.create_task(stage.agent.say("go"))
    await stage.model.hang.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert stage.of(TurnEnded)[0].why == "interrupted"
    assert stage.of(AssistantSaid)[0].text == "half a sen"
    assert not stage.agent.working
    await stage.agent.say("again")
    assert [m.role for m in stage.model.asked[1].messages] == ["user", "assistant", "user"]


async def test_an_interrupt_ends_running_tools_and_the_next_request_is_valid() -> None:
    stage = Stage(say("", call("a", seconds=60), call("b")), say("ok"))
    turn = asyncio.create_task(stage.agent.say("go"))
    while not stage.of(ToolFinished):
        await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert stage.look.running == 0
    await stage.agent.say("again")
    results = stage.model.asked[1].messages[2].blocks
    assert isinstance(results[0], ToolResult)
    assert results[0].is_error
    assert results[1] == ToolResult("b", (Text("seen"),))


async def test_steering_is_delivered_after_the_step_and_later_after_the_turn() -> None:
    stage = Stage(say("", call("a", seconds=0.01)), say("first done"), say("second done"))

    async def type_while_it_works() -> None:
        while not stage.of(ToolStarted):
            await asyncio.sleep(0)
        stage.agent.later("and then this")
        stage.agent.steer("rather so")
        stage.agent.steer("a slip")
        assert stage.agent.take_back() == "a slip"

    await asyncio.gather(stage.agent.say("go"), type_while_it_works())
    assert stage.model.asked[1].messages[-1].blocks[-1] == Text("rather so")
    assert stage.model.asked[2].messages[-1].blocks[-1] == Text("and then this")
    assert stage.agent.waiting == ()
    assert [q.withdrawn for q in stage.of(Queued)] == [False, False, False, True]


async def test_words_on_record_every_half_second() -> None:
    stage = Stage(say("a few words", stop="interrupted"))
    turn = asyncio.create_task(stage.agent.say("go"))
    while not stage.of(Heard):
        await asyncio.sleep(0.01)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert stage.of(Heard)[0].text == "a few words"


# --- valves ----------------------------------------------------------------------------------


async def test_valve_1_is_asked_before_the_step_is_counted() -> None:
    """With a limit of 2, exactly two requests leave, and a reply that ends the turn is not stopped."""
    many = Stage(
        *[say("", call(str(n), answer=str(n))) for n in range(9)], limits=Limits(steps=2), person=Person(attended=False)
    )
    await many.agent.say("go")
    assert len(many.model.asked) == 2
    assert many.look.ran == ["0", "1"]
    ended = many.of(TurnEnded)[0]
    assert (ended.why, ended.valve, ended.steps) == ("valve", "steps", 2)
    exact = Stage(say("", call("a")), say("done"), limits=Limits(steps=2), person=Person(attended=False))
    await exact.agent.say("go")
    assert exact.of(TurnEnded)[0].why == "done"


async def test_valve_2_is_summed_after_every_reply_and_asked_before_the_next() -> None:
    """Cache reads count a tenth; the calls of the reply that crossed the line still run."""
    costly = Usage(input=500, output=100, cache_read=4000)
    stage = Stage(
        say("", call("a"), usage=costly), say("", call("b", answer="2"), usage=costly), say("never"),
        limits=Limits(tokens=1500), person=Person(attended=False),
    )  # fmt: skip
    await stage.agent.say("go")
    assert stage.look.ran == ["seen", "2"]
    assert len(stage.model.asked) == 2
    assert stage.of(TurnEnded)[0].valve == "tokens"


async def test_valve_2_in_dollars() -> None:
    stage = Stage(
        *[say("", call(str(n), answer=str(n))) for n in range(9)],
        limits=Limits(dollars=0.03),
        person=Person(attended=False),
    )
    await stage.agent.say("go")
    assert len(stage.model.asked) == 3
    assert stage.of(TurnEnded)[0].valve == "dollars"


async def test_the_budget_spans_turns() -> None:
    stage = Stage(say("a"), say("b"), limits=Limits(tokens=100), person=Person(attended=False))
    await stage.agent.say("go")
    await stage.agent.say("go on")
    assert [e.why for e in stage.of(TurnEnded)] == ["done", "valve"]


async def test_valve_3_stops_the_third_identical_step_before_it_runs() -> None:
    same = [say("", call(str(n))) for n in range(5)]
    stage = Stage(*same, person=Person(attended=False))
    await stage.agent.say("go")
    assert len(stage.look.ran) == 2
    assert len(stage.model.asked) == 3
    assert stage.of(TurnEnded)[0].valve == "no_progress"


async def test_valve_3_lets_a_poll_go_on_whose_result_changes() -> None:
    stage = Stage(*[say("", call(str(n))) for n in range(5)], say("done"))
    count = iter(range(9))

    class Poll(type(stage.look)):  # type: ignore[misc]
        async def run(self, args, permit):  # type: ignore[no-untyped-def]
            args.answer = str(next(count))
            async for part in super().run(args, permit):
                yield part

    stage.look.__class__ = Poll
    await stage.agent.say("go")
    assert stage.of(TurnEnded)[0].why == "done"
    assert not stage.of(ValveClosed)


async def test_valve_3_sees_a_cycle_of_two_and_of_three() -> None:
    for length in (2, 3):
        steps = [say("", call(f"{n}", answer=str(n % length))) for n in range(20)]
        stage = Stage(*steps, person=Person(attended=False))
        await stage.agent.say("go")
        assert len(stage.look.ran) == 3 * length - 1, length
        assert stage.of(TurnEnded)[0].valve == "no_progress"


async def test_valve_3_stops_a_call_that_failed_twice_in_the_same_way() -> None:
    steps = [say("", call(f"{n}", fault="fault"), call(f"x{n}", answer=str(n))) for n in range(9)]
    stage = Stage(*steps, person=Person(attended=False))
    await stage.agent.say("go")
    assert len(stage.model.asked) == 3
    assert stage.of(TurnEnded)[0].valve == "no_progress"


async def test_a_valve_asks_a_person_and_goes_on_with_a_new_limit() -> None:
    person = Person(Answer("yes"), Answer("no"))
    stage = Stage(*[say("", call(str(n), answer=str(n))) for n in range(9)], limits=Limits(steps=2), person=person)
    await stage.agent.say("go")
    assert len(stage.model.asked) == 4
    assert [v.raised for v in stage.of(ValveClosed) if not v.warning] == [4, 0]
    assert "2 of 2 steps" in person.valves[0].words


async def test_a_warning_at_80_percent_once() -> None:
    steps = [say("", call(str(n), answer=str(n))) for n in range(9)]
    stage = Stage(*steps, say("done"), limits=Limits(steps=10))
    await stage.agent.say("go")
    assert [(v.valve, v.seen) for v in stage.of(ValveClosed)] == [("steps", 8)]


async def test_valve_4_comes_before_execution() -> None:
    person = Person(Answer("no", "not now"))
    stage = Stage(say("", call("a", "change")), say("ok"), person=person)
    await stage.agent.say("go")
    assert stage.change.ran == []
    assert not stage.of(ToolStarted)
    refusal = stage.results()["a"].blocks[0]
    assert isinstance(refusal, Text)
    assert "not now" in refusal.text


async def test_the_wall_clock_valve() -> None:
    stage = Stage(
        *[say("", call(str(n), answer=str(n))) for n in range(9)],
        limits=Limits(seconds=10),
        person=Person(attended=False),
    )
    stage.journal.watch(lambda e: setattr(stage.clock, "time", stage.clock.time + 3) if isinstance(e, Asked) else None)
    await stage.agent.say("go")
    assert stage.of(TurnEnded)[0].valve == "seconds"
    assert len(stage.model.asked) == 4


# --- compaction ------------------------------------------------------------------------------


async def test_a_full_window_is_summed_up_and_work_goes_on() -> None:
    big = Usage(input=900, output=10)
    steps = [say("", call(str(n), answer=f"{n}" * 10), usage=Usage(100 + 100 * n, 1)) for n in range(6)]
    stage = Stage(*steps, say("", call("x"), usage=big), say("The summary."), say("done"), window=1400)
    await stage.agent.say("fix it, please")
    cut = stage.of(Compacted)[0]
    assert "The summary." in cut.summary
    assert "fix it, please" in cut.summary
    assert stage.of(TurnEnded)[0].why == "done"
    asked_for_summary = stage.model.asked[-2]
    before = stage.model.asked[-3]
    assert asked_for_summary.messages[: len(before.messages)] == before.messages
    assert asked_for_summary.tools == before.tools


async def test_an_overflow_is_summed_up_once_then_given_up() -> None:
    steps = [say("", call(str(n), answer=f"{n}" * 50)) for n in range(4)]
    overflow = ContextOverflow("prompt is too long", category="prompt_too_long", status=400)
    stage = Stage(*steps, overflow, say("Sum."), overflow)
    await stage.agent.say("go")
    assert len(stage.of(Compacted)) == 1
    assert stage.of(TurnEnded)[0].category == "prompt_too_long"


async def test_a_failing_summary_leaves_everything_as_it_was() -> None:
    steps = [say("", call(str(n), answer=f"{n}")) for n in range(4)]
    stage = Stage(*steps, say("done"), say(""))
    await stage.agent.say("go")
    before = stage.model.asked[-1].messages
    assert not await stage.agent.compact()
    assert not stage.of(Compacted)
    assert "as it was" in stage.of(Noted)[-1].text
    await stage.agent.say("more")
    assert stage.model.asked[-1].messages[: len(before)] == before


async def test_the_same_replies_give_the_same_events_and_requests() -> None:
    def play() -> Stage:
        return Stage(say("a", call("1"), call("2", "change")), say("b", call("3", fault="bug")), say("c"))

    one, two = play(), play()
    await one.agent.say("go")
    await two.agent.say("go")
    assert one.journal.entries == two.journal.entries
    assert one.model.asked == two.model.asked
    assert isinstance(one.journal.entries[2], UserSaid)


async def test_counts_that_cannot_be_true_are_told_once() -> None:
    wrong = [replace(say(words, usage=Usage()), doubt="input_tokens: -5") for words in ("one", "two")]
    stage = Stage(*wrong)
    await stage.agent.say("go")
    await stage.agent.say("go on")
    told = [note for note in stage.of(Noted) if note.topic == "usage"]
    assert [(note.to, note.level) for note in told] == [("person", "warning")]
    assert "input_tokens: -5" in told[0].text
    assert (stage.agent.meter.context, stage.agent.meter.usage) == (0, Usage())
