"""The real front as a process of its own, over the loop's test stage: `python -m tests.tui.play [what]`.

`what` is a word: `ask` (an edit that is asked for), `stream` (a long paced reply), `keyless`, `crash`.
Further words: `history=N` old messages, `tokens=N`, `rate=N` a second, `log=FILE` for the composer's history.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from codeagent.core.errors import ModelUnavailable
from codeagent.core.events import AssistantSaid, Delta, Entry, Opened, Retried, TextDelta, UserSaid
from codeagent.core.messages import Request, Text, Usage
from codeagent.core.ports import Front, ModelInfo
from codeagent.fronts.tui.app import run
from codeagent.options import Options
from tests.core.stage import Replies, call, say
from tests.tui.desk import TestDesk

MESSAGE = (
    "The *discount* is taken twice: in `subtotal()` and again in `total()`.\n\n"
    "- one place computes it\n- the other trusts it\n\n"
    "```python\ndef total(self) -> int:\n    return self.subtotal()  # once\n```\n\n"
) * 3


class Paced(Replies):
    """Streams a long reply at a given rate."""

    def __init__(self, tokens: int, rate: float) -> None:
        super().__init__()
        self._tokens, self._rate = tokens, rate

    def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, "paced", 200_000, 64_000)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Retried | AssistantSaid]:
        loop, words = asyncio.get_running_loop(), MESSAGE.split(" ")
        began, parts = loop.time(), []
        for i in range(self._tokens):
            parts.append(f"{words[i % len(words)]} ")
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


def main(words: list[str]) -> int:
    given = dict(word.partition("=")[::2] for word in words)
    replies = [say("", call("1", "change", answer="shop/cart.py")), say("Changed.")] if "ask" in given else []

    def connect(front: Front, **overrides: str) -> TestDesk:
        if "keyless" in given and not overrides:
            raise ModelUnavailable("There is no API key.", category="authentication_failed")
        log = Path(given["log"]) if "log" in given else None
        entries = old(int(given["history"])) if "history" in given else ()
        desk = TestDesk(front, replies, entries, history=log)
        if "tokens" in given:
            desk.agent._model = Paced(int(given["tokens"]), float(given.get("rate", "200")))
        if "crash" in given:
            raise RuntimeError("the floor is gone")
        return desk

    return run(Options(prompt=given.get("prompt", "")), connect)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
