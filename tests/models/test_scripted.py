"""A recorded model says its script, finds its place from the request alone, and always says the same."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.conversation import messages
from codeagent.core.effects import Answer
from codeagent.core.errors import ContextOverflow, ModelBusy, ModelError, ModelUnavailable, RequestRejected
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    CallDelta,
    Compacted,
    Event,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Message, Note, Text, ToolUse, Usage
from codeagent.models.scripted import Scripted
from tests.core.stage import Person
from tests.models.talks import agent, answered, asked, heard, reply

RECORDINGS = Path(__file__).parent.parent / "recordings"

LOOK_TWICE = """
say I look.
call look {"answer": "first"}
call look {"answer": "second"}
---
say Seen: {{look ~ sec\\w+}}.
---
say More? {{user ~ more (.*)}}
"""


async def test_deltas_then_exactly_one_reply() -> None:
    model = Scripted("think Let me think about it.\nsay Some words that are streamed.\ncall look {}")
    events = await heard(model, asked("hi"))
    said = events[-1]
    assert isinstance(said, AssistantSaid)
    assert said.stop == "tool_use"
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == said.text
    assert "".join(e.text for e in events if isinstance(e, ThinkingDelta)) == "Let me think about it."
    assert [e for e in events if isinstance(e, CallDelta)] == [CallDelta(said.uses[0].id, "look", 2)]
    assert len([e for e in events if isinstance(e, TextDelta)]) > 1
    assert len([e for e in events if isinstance(e, AssistantSaid)]) == 1


@given(st.text())
def test_the_pieces_of_a_text_join_to_it(text: str) -> None:
    block = (
        msgspec.json.encode({"type": "text", "text": text}) if text.isprintable() else b'{"type": "text", "text": ""}'
    )
    said = asyncio.run(heard(Scripted("block " + block.decode()), asked("hi")))
    last = said[-1]
    assert isinstance(last, AssistantSaid)
    assert "".join(e.text for e in said if isinstance(e, TextDelta)) == "".join(
        b.text for b in last.blocks if isinstance(b, Text)
    )


async def test_a_conversation_through_the_real_loop() -> None:
    talk = agent(Scripted(LOOK_TWICE))
    await talk.say("go")
    await talk.say("more light")
    replies = [e for e in talk.journal.entries if isinstance(e, AssistantSaid)]
    assert [r.text for r in replies] == ["I look.", "Seen: second.", "More? light"]


async def test_the_same_script_gives_the_same_entries_and_requests() -> None:
    async def run() -> list[bytes]:
        talk = agent(Scripted(LOOK_TWICE), Person())
        await talk.say("go")
        return [msgspec.json.encode(e) for e in talk.journal.entries]

    assert await run() == await run()


async def test_a_resumed_session_goes_on_where_it_was() -> None:
    whole = agent(Scripted(LOOK_TWICE))
    await whole.say("go")
    await whole.say("more light")
    entries = whole.journal.entries
    for stop, entry in enumerate(entries):
        if not isinstance(entry, UserSaid):
            continue
        rest = agent(Scripted(LOOK_TWICE), entries=entries[:stop])
        await rest.say(entry.text)
        theirs = [e for e in rest.journal.entries if isinstance(e, AssistantSaid | Asked)]
        ours = [e for e in entries if isinstance(e, AssistantSaid | Asked)]
        assert theirs == ours[: len(theirs)]


async def test_the_place_is_found_after_a_compaction() -> None:
    model = Scripted(LOOK_TWICE)
    first = await reply(model, asked("go"))
    kept = answered(first, "first", "second")
    assert (await reply(model, asked("a summary of all before", *kept))).text == "Seen: second."
    far = Scripted("say a\n---\nsay b\n---\nsay c\ncall look {}\n---\nsay d")
    third = AssistantSaid((Text("c"), ToolUse("step3_3_1", "look", {})))
    assert (await reply(far, asked("a summary", *answered(third, "x")))).text == "d"


async def test_a_step_whose_calls_were_cut_off_is_said_again() -> None:
    model = Scripted(LOOK_TWICE)
    cut = Message("assistant", (Text("I lo"),))
    said = await reply(model, asked("go", cut, Message("user", (Note("interrupted"), Text("go on")))))
    assert said.text == "I look."
    assert [use.id for use in said.uses] == ["step1_2_1", "step1_2_2"]


async def test_an_interrupted_turn_can_be_taken_up_again() -> None:
    person = Person()
    talk = agent(Scripted('say A first word and many more.\ncall look {"answer": "x"}\n---\nsay End.', pace=40), person)
    begun = asyncio.Event()

    def watch(event: Event) -> None:
        if isinstance(event, TextDelta):
            begun.set()

    talk.journal.watch(watch)
    turn = asyncio.create_task(talk.say("go"))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await talk.say("go on")
    assert [e.text for e in talk.journal.entries if isinstance(e, AssistantSaid)][1:] == [
        "A first word and many more.",
        "End.",
    ]


BRANCHES = """
--- start
say May I?
call change {"answer": "x"}
go no when error ~ The user said no
go heard when change ~ The user adds:
go yes

--- no
say Then not. {{change ~ They say: (.*)}}

--- heard
say You add: {{change ~ The user adds: (.*)}}

--- yes
say Done.
"""


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        (Answer("yes"), "Done."),
        (Answer("yes", "be quick"), "You add: be quick"),
        (Answer("no", "not here"), "Then not. not here"),
    ],
)
async def test_ways_are_chosen_by_what_the_person_answered(answer: Answer, last: str) -> None:
    talk = agent(Scripted(BRANCHES), Person(answer))
    await talk.say("go")
    said = [e for e in talk.journal.entries if isinstance(e, AssistantSaid)]
    assert said[-1].text == last


async def test_a_fork_at_the_start_chooses_by_the_first_words() -> None:
    model = Scripted("go bye when user ~ bye\n--- hello\nsay Hello.\n--- bye\nsay Goodbye.")
    assert (await reply(model, asked("hi"))).text == "Hello."
    assert (await reply(model, asked("bye now"))).text == "Goodbye."


async def test_a_loop_goes_on_for_ever_with_new_call_ids() -> None:
    model = Scripted("--- again\nsay Once more.\ncall look {}\ngo again")
    first = await reply(model, asked("go"))
    second = await reply(model, asked("go", *answered(first, "x")))
    third = await reply(model, asked("go", *answered(first, "x"), *answered(second, "x")))
    assert [said.uses[0].id for said in (first, second, third)] == ["step1_1_1", "step1_2_1", "step1_3_1"]


async def test_ways_in_a_circle_are_an_error() -> None:
    with pytest.raises(ModelError, match="script:1: the ways from here lead in a circle"):
        await reply(Scripted("--- a\ngo b\n--- b\ngo a"), asked("hi"))


async def test_notes_can_be_asked_about() -> None:
    model = Scripted("go told when note ~ changed\n---\nsay Nothing new.\n--- told\nsay I saw it.")
    assert (await reply(model, asked(Message("user", (Note("the file changed"), Text("hi")))))).text == "I saw it."


async def test_placeholders_are_filled_in_texts_and_inputs_from_the_newest_answer() -> None:
    model = Scripted('call look {}\n---\ncall look {"answer": "{{look ~ n=(\\\\d)}}", "more": [1, "{{user ~ g.}}"]}')
    first = await reply(model, asked("go"))
    second = await reply(model, asked("go", *answered(first, "n=7")))
    assert second.uses[0].input == {"answer": "7", "more": [1, "go"]}


async def test_a_placeholder_that_finds_nothing_names_its_line_and_what_was_there() -> None:
    model = Scripted("call look {}\n---\nsay {{look ~ n=(\\d)}}")
    first = await reply(model, asked("go"))
    with pytest.raises(ModelError, match=r"script:3: nothing matches look ~ n=.*the last look begins 'm=1'"):
        await reply(model, asked("go", *answered(first, "m=1")))


async def test_the_end_of_the_script_is_a_clear_failure() -> None:
    talk = agent(Scripted("say One.\n\n---\nsay Two."))
    for words in ("a", "b", "c"):
        await talk.say(words)
    ended = talk.journal.entries[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.why, ended.category) == ("failed", "script")
    assert ended.detail == "script:3: the script is at its end: reply 3 is asked for, and no step is left for it"


async def test_an_empty_script_is_at_its_end() -> None:
    with pytest.raises(ModelError, match="script:1: the script is at its end"):
        await reply(Scripted("# nothing"), asked("hi"))


async def test_pauses_are_counted_inside_one_message() -> None:
    model = Scripted("say a\nstop pause_turn\n---\nsay b\n---\nsay c")
    assert (await reply(model, asked("go"))).stop == "pause_turn"
    assert (await reply(model, asked("go", Message("assistant", (Text("a"),))))).text == "b"
    both = Message("assistant", (Text("a"), Text("b")))
    assert (await reply(model, asked("go", both, "and then?"))).text == "c"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('fail overloaded {"status": 529}', ModelBusy),
        ("fail authentication_failed", ModelUnavailable),
        ('fail feature_refused {"feature": "effort"}', RequestRejected),
        ("fail prompt_too_long", ContextOverflow),
        ("fail unknown", ModelError),
    ],
)
async def test_failures_are_the_ones_of_a_real_model(line: str, kind: type[ModelError]) -> None:
    events: list[Event] = []

    async def listen() -> None:
        async for event in Scripted(f"say Half of\n{line}").stream(asked("hi")):
            events.append(event)  # noqa: PERF401  what came before the failure counts

    with pytest.raises(ModelError) as caught:
        await listen()
    assert type(caught.value) is kind
    assert caught.value.category == line.split()[1]
    assert events == [TextDelta("Half of")]


async def test_usage_is_estimated_as_if_exact_prefixes_were_cached() -> None:
    model = Scripted("say a\ncall look {}\n---\nsay b\n---\nsay c")
    first = await reply(model, asked("go"))
    second = await reply(model, asked("go", *answered(first, "x" * 400)))
    assert first.usage.cache_read == 0
    assert second.usage.cache_read == first.usage.prompt
    assert second.usage.cache_write > 100
    assert (first.cost, second.cost) == (0.0, 0.0)


async def test_half_a_character_counts_like_others() -> None:
    said = await reply(Scripted(r'call look {"answer": "\ud800"}'), asked("a name that is no UTF-8: \udcff"))
    assert said.uses[0].input == {"answer": "\ud800"}
    assert said.usage.output > 0


async def test_usage_stop_and_cost_can_be_given() -> None:
    said = await reply(Scripted('say a\nstop refusal cyber\nusage {"input": 5, "cost": null}'), asked("hi"))
    assert (said.stop, said.detail, said.usage, said.cost) == ("refusal", "cyber", Usage(5), None)


async def test_a_pace_takes_its_time_and_none_takes_none() -> None:
    text = "wait 5\nsay " + "word " * 40
    started = time.monotonic()
    await reply(Scripted(text), asked("hi"))
    assert time.monotonic() - started < 1
    started = time.monotonic()
    await reply(Scripted(text.replace("wait 5", "wait 0.05"), pace=2000), asked("hi"))
    assert time.monotonic() - started > 0.1


@pytest.mark.parametrize(("content", "words"), [(None, "cannot be read: No such file"), (b"say \xff", "not UTF-8")])
def test_a_script_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "a.script"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        Scripted(path)
    assert str(path) in str(caught.value)
    assert caught.value.category == "script"


async def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.script"
    path.write_bytes(b"\xef\xbb\xbfsay Hello.")
    assert (await reply(Scripted(path), asked("hi"))).text == "Hello."


async def test_a_long_word_comes_in_pieces() -> None:
    events = await heard(Scripted("say " + "x" * 1000), asked("hi"))
    assert max(len(e.text) for e in events if isinstance(e, TextDelta)) <= 40


def test_it_says_what_it_is() -> None:
    info = Scripted("say a").info("script:a")
    assert (info.id, info.short) == ("script:a", "recorded")


async def test_messages_of_the_loop_alternate_for_a_script_with_every_branch() -> None:
    talk = agent(Scripted(BRANCHES), Person(Answer("no", "x")))
    await talk.say("go")
    assert [m.role for m in messages(talk.journal.entries)] == ["user", "assistant", "user", "assistant"]


async def test_the_step_called_summary_answers_a_compaction_and_nothing_else() -> None:
    talk = agent(Scripted("say a\n--- summary\nsay In short.\n---\nsay b\ncall look {}\n---\nsay c\n---\nsay d"))
    for words in ("one", "two"):
        await talk.say(words)
    assert await talk.compact()
    await talk.say("three")
    assert [e.text for e in talk.journal.entries if isinstance(e, AssistantSaid)] == ["a", "b", "c", "d"]
    assert any(isinstance(e, Compacted) and "In short." in e.summary for e in talk.journal.entries)


async def test_without_such_a_step_a_compaction_leaves_everything_as_it_was() -> None:
    talk = agent(Scripted("say a\n---\nsay b\n---\nsay c\n---\nsay d"))
    for words in ("one", "two", "three"):
        await talk.say(words)
    assert not await talk.compact()
    await talk.say("four")
    assert [e.text for e in talk.journal.entries if isinstance(e, AssistantSaid)] == ["a", "b", "c", "d"]
