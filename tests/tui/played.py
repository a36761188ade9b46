"""What the played front meets: a paced model, an old session, a desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from codeagent.core.events import AssistantSaid, Delta, Entry, Opened, Retried, TextDelta, UserSaid
from codeagent.core.messages import Request, Text, Usage
from codeagent.core.ports import Front, ModelInfo
from tests.core.stage import Replies, call, say
from tests.tui.desk import TestDesk

MESSAGE = (
    "The *discount* is taken twice: in `subtotal()` and again in `total()`.\n\n"
    "- one place computes it\n- the other trusts it\n\n"
    "```python\ndef total(self) -> int:\n    return self.subtotal()  # once\n```\n\n"
) * 3


class Paced(Replies):
    """Streams a long reply at a given rate; `mark1` to `mark5` stand after each fifth of it."""

    def __init__(self, tokens: int, rate: float) -> None:
        super().__init__()
        self._tokens, self._rate = tokens, rate

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "paced", 200_000, 64_000)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Retried | AssistantSaid]:
        loop, words = asyncio.get_running_loop(), MESSAGE.split(" ")
        began, parts = loop.time(), []
        for i in range(self._tokens):
            mark = f"\n\nmark{5 * (i + 1) // self._tokens}\n\n" if (i + 1) % max(1, self._tokens // 5) == 0 else ""
            parts.append(f"{words[i % len(words)]} {mark}")
            yield TextDelta(parts[-1])
            if (ahead := began + (i + 1) / self._rate - loop.time()) > 0.002:
                await asyncio.sleep(ahead)
        yield AssistantSaid((Text("".join(parts)),), usage=Usage(1000, self._tokens))


def old(count: int) -> list[Entry]:
    """A session with this many messages behind it."""
    entries: list[Entry] = [Opened("s", "/p", ("sys",), (), "m", 1000)]
    for number in range(count // 2):
        entries += [UserSaid((Text(f"question {number}"),)), AssistantSaid((Text(MESSAGE),))]
    return entries


def desk(front: Front, given: Mapping[str, str]) -> TestDesk:
    """A desk for the words that `play` was called with."""
    replies = [say("", call("1", "change", answer="shop/cart.py")), say("Changed.")] if "ask" in given else []
    log = Path(given["log"]) if "log" in given else None
    entries = old(int(given["history"])) if "history" in given else ()
    if "hostile" in given:
        from tests.hostile import SHORT, entries as hostile  # noqa: I001 - only here

        entries = [entry for text in SHORT for entry in hostile(text)[:6]]
    made = TestDesk(front, replies, entries, history=log)
    if "tokens" in given:
        made.agent._model = Paced(int(given["tokens"]), float(given.get("rate", "200")))
    return made
