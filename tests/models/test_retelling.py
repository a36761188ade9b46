"""A session told again as a script says what was said, also after compactions, cuts and rewinds."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.events import AssistantSaid, Compacted, Entry, Rewound, Switched
from codeagent.core.messages import Text, Thinking
from codeagent.models.retelling import retell
from codeagent.models.scripted import Scripted
from tests.core.stage import Stage, call, say


def said(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if isinstance(entry, AssistantSaid)]


def scripted(script: str) -> Stage:
    """A stage on which this script plays."""
    stage = Stage()
    model = Scripted(script)
    stage.model.info = model.info  # type: ignore[method-assign]
    stage.model.stream = model.stream  # type: ignore[method-assign,assignment]
    return stage


async def test_the_script_says_the_session_again() -> None:
    stage = Stage(say("a {{b ~ c}}", call("toolu_1"), call("toolu_2", "change")), say("b\n\nc"))
    await stage.agent.say("go")
    again = scripted(retell(stage.journal.entries))
    await again.agent.say("go")
    assert said(again.journal.entries) == said(stage.journal.entries)
    assert list(again.results()) == ["toolu_1", "toolu_2"]
    assert retell(again.journal.entries) == retell(stage.journal.entries)


async def test_a_compaction_keeps_its_place() -> None:
    replies = [say(f"step {n}", call(f"toolu_{n}", answer="x" * 50)) for n in range(6)]
    stage = Stage(*replies, say("ready"), say("What was done."), say("", call("toolu_9")), say("on we go"))
    await stage.agent.say("go")
    assert await stage.agent.compact()
    await stage.agent.say("more")
    script = retell(stage.journal.entries)
    again = scripted(script)
    await again.agent.say("go")
    assert await again.agent.compact()
    await again.agent.say("more")
    assert said(again.journal.entries) == said(stage.journal.entries)
    assert again.of(Compacted)[0].summary == stage.of(Compacted)[0].summary


async def test_it_has_the_room_of_the_model() -> None:
    stage = Stage(say("one"))
    await stage.agent.say("a")
    assert not retell(stage.journal.entries).startswith("window")
    stage.journal.append(Switched(model="claude-sonnet-5-5"))
    assert Scripted(retell(stage.journal.entries)).info("x").window == 1_000_000


async def test_what_was_rewound_or_void_is_left_out() -> None:
    stage = Stage(say("one"), say("two"), say("no", stop="refusal"), say("three"))
    await stage.agent.say("a")
    mark = len(stage.journal.entries)
    await stage.agent.say("b")
    stage.journal.append(Rewound(mark))
    await stage.agent.say("c")
    await stage.agent.say("d")
    script = retell(stage.journal.entries)
    assert [line for line in script.splitlines() if line.startswith("say")] == ["say one", "say three"]


def test_signed_reasoning_is_kept_word_for_word(tmp_path: Path) -> None:
    thought = AssistantSaid((Thinking("hm", "c2ln"), Text("yes")))
    assert 'block {"type": "thinking", "text": "hm", "signature": "c2ln"}' in retell([thought])
