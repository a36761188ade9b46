"""A summary that is interrupted or killed halfway changes nothing: the conversation is what it was."""

from __future__ import annotations

import asyncio

from codeagent.core.conversation import messages
from codeagent.core.events import Asked, Compacted
from codeagent.core.messages import Usage
from tests.core.stage import Stage, say


async def test_an_interrupted_summary() -> None:
    stage = Stage(*(say(f"answer {n} " + "word " * 3000, usage=Usage(1000, 10)) for n in range(6)))
    for n in range(6):
        await stage.agent.say(f"question {n}")
    before = messages(stage.journal.entries)
    stage.model._replies.append(say("half a summary", stop="interrupted"))
    summing = asyncio.create_task(stage.agent.compact())
    await stage.model.hang.wait()
    summing.cancel()
    await asyncio.gather(summing, return_exceptions=True)
    assert [asked.purpose for asked in stage.of(Asked)][-1] == "compaction", "it was on its way"
    assert stage.of(Compacted) == []
    assert messages(stage.journal.entries) == before
    for end in range(len(stage.journal.entries), 0, -1):
        if isinstance(stage.journal.entries[end - 1], Asked):
            assert messages(stage.journal.entries[:end]) == before, "killed just then"
            break
