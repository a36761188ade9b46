"""What the played front meets: a paced model, an old session, a desk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Delta, Entry, Opened, Recalled, Retried, TextDelta, UserSaid
from codeagent.core.messages import Request, Text, Usage
from codeagent.core.ports import Front, ModelInfo
from tests.core.stage import Replies, call, say
from tests.tui.desk import TestDesk

MESSAGE = (
    "The *discount* is taken twice: in `subtotal()` and again in `total()`.\n\n"
    "- one place computes it\n- the other trusts it\n\n"
    "```python\ndef total(self) -> int:\n    return self.subtotal()  # once\n```\n\n"
) * 3


BURST = 50
"""Tokens that come at once when the rate knows no bounds: about what one read of a socket gives."""


class Paced(Replies):
    """Streams a long reply at a given rate. After each fifth of it stand `mark1` to `mark5`, and it rests so long."""

    def __init__(self, tokens: int, rate: float, rest: float) -> None:
        super().__init__()
        self._tokens, self._rate, self._rest = tokens, rate, rest

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "paced", 200_000, 64_000)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Retried | AssistantSaid]:
        loop, words = asyncio.get_running_loop(), MESSAGE.split(" ")
        began, parts, fifth = loop.time(), [], max(1, self._tokens // 5)
        for i in range(1, self._tokens + 1):
            mark = f"\n\nmark{i // fifth}\n\n" if i % fifth == 0 else ""
            parts.append(f"{words[i % len(words)]} {mark}")
            yield TextDelta(parts[-1])
            if mark:
                began += self._rest
                await asyncio.sleep(self._rest)
            ahead = began + i / self._rate - loop.time()
            if ahead > 0.002 or i % BURST == 0:
                await asyncio.sleep(max(0.0, ahead))
        yield AssistantSaid((Text("".join(parts)),), usage=Usage(1000, self._tokens))


def old(count: int) -> list[Entry]:
    """A session with this many messages behind it."""
    entries: list[Entry] = [Opened("s", "/p", ("sys",), (), "m", 1000)]
    for number in range(count // 2):
        entries += [UserSaid((Text(f"question {number}"),)), AssistantSaid((Text(MESSAGE),))]
    return entries


def recalled(front: Front, given: Mapping[str, str]) -> None:
    """Show an old session, and then fail, or take as long as it takes until a file is there."""
    front.see(Recalled(old(int(given["history"]))))
    if "wet" in given:
        raise UsageFault("The floor is wet.")
    while not Path(given["until"]).exists():
        time.sleep(0.01)  # between two looks at what the test does


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
        rate, rest = float(given.get("rate", "200")), float(given.get("rest", "0"))
        made.agent._model = Paced(int(given["tokens"]), rate, rest)
    return made
