"""What a recording writes, a script says again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.errors import ModelBusy, ModelError
from codeagent.core.events import AssistantSaid
from codeagent.core.messages import Block, Opaque, Text, Thinking, ToolUse, Usage
from codeagent.models.faulty import Faulty, plan
from codeagent.models.recording import Recording, write
from codeagent.models.scripted import Scripted
from tests.models.talks import agent, asked, heard, reply

SCRIPT = 'think Hm.\nsay I look.\ncall look {"answer": "a"}\n---\nsay It says {{look ~ .*}}.\n\n  And more.'

awkward = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(["{{", "}}", "a ~ b", "\n", "\r", " ", "# x", "---", "say", '"', "\\", "\ud800", "é"])
    ).map("".join),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | awkward,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(awkward, inner, max_size=3),
    max_leaves=6,
)
blocks = st.one_of(
    st.builds(Text, awkward, st.dictionaries(st.just("citations"), json_values, max_size=1)),
    st.builds(Thinking, awkward, st.sampled_from(["", "c2ln"])),
    st.builds(
        ToolUse,
        st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True),
        st.sampled_from(["read", "mcp__a__b"]),
        st.dictionaries(awkward, json_values, max_size=3),
        st.sampled_from(["", '{"half']),
    ),
    st.builds(Opaque, st.dictionaries(awkward, json_values, max_size=2)),
)
replies = st.builds(
    AssistantSaid,
    st.lists(blocks, max_size=4).map(tuple),
    st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal"]),
    st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
    cost=st.none() | st.sampled_from([0.0, 0.125]),
    detail=st.sampled_from(["", "cyber"]),
    cut=st.sampled_from([(), ("edit",)]),
)


@given(replies)
def test_any_reply_is_said_again_block_by_block(said: AssistantSaid) -> None:
    again = asyncio.run(reply(Scripted(write(said)), asked("hi")))
    assert replace(again, model="", message_id="") == said


@given(st.lists(blocks, max_size=3).map(tuple))
def test_a_recording_is_utf_8(said: tuple[Block, ...]) -> None:
    write(AssistantSaid(said)).encode()


async def test_a_recorded_session_plays_again_with_the_same_words_and_requests(tmp_path: Path) -> None:
    path = tmp_path / "heard.script"
    first = agent(Recording(Scripted(SCRIPT), path))
    await first.say("go")
    second = agent(Scripted(path))
    await second.say("go")
    ours = [replace(e, message_id="") if isinstance(e, AssistantSaid) else e for e in second.journal.entries]
    theirs = [replace(e, message_id="") if isinstance(e, AssistantSaid) else e for e in first.journal.entries]
    assert ours == theirs


async def test_a_recording_reads_like_a_script_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "heard.script"
    await heard(Recording(Scripted('say Two\n\n  parts.\ncall look {"answer": "é"}'), path), asked("hi"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text(encoding="utf-8").split("usage")[0] == (
        '---\nsay Two\n\n  parts.\ncall look#step1_1_1 {"answer": "é"}\n'
    )


async def test_failures_are_passed_on_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "heard.script"
    model = Recording(Faulty(Scripted("say a"), plan("1=drop@1")), path)
    with pytest.raises(ModelBusy):
        await heard(model, asked("hi"))
    assert not path.exists()
    await heard(model, asked("hi"))
    assert path.read_text(encoding="utf-8").startswith("---\nsay a\n")


async def test_a_recording_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        await heard(Recording(Scripted("say a"), tmp_path / "none" / "a.script"), asked("hi"))


def test_the_model_behind_it_is_the_one_that_is_told_of(tmp_path: Path) -> None:
    assert Recording(Scripted("say a"), tmp_path / "a").info("m").short == "recorded"
