"""A Model that asks again, in the open, when the one inside was busy."""

from __future__ import annotations

import asyncio
import random as randomness
from collections.abc import AsyncGenerator, Awaitable, Callable

from codeagent.core.errors import ModelBusy
from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Request
from codeagent.core.ports import Model, ModelInfo

_FIRST = 0.5
_LONGEST = 30.0


class Retrying:
    """Makes up to `attempts` attempts, each of the whole request.

    Waits 0.5 s, then twice as long each time up to 30 s, less up to a quarter by chance. A server's
    `retry-after` is obeyed up to `cap` seconds; a longer one is raised with words that say so. A
    `Retried` before each wait tells that the words shown so far are void.
    """

    def __init__(
        self,
        inner: Model,
        *,
        attempts: int = 6,
        cap: float = 60.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        self._inner = inner
        self._attempts = attempts
        self._cap = cap
        self._sleep = sleep
        self._random = random

    def info(self, model: str) -> ModelInfo:
        return self._inner.info(model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        for attempt in range(1, self._attempts + 1):
            replies = self._inner.stream(request)
            try:
                async for said in replies:
                    yield said
            except ModelBusy as busy:
                wait = self._wait(busy, attempt)
                again = Retried(attempt + 1, self._attempts, wait, str(busy), busy.category, busy.status)
            else:
                return
            finally:
                if isinstance(replies, AsyncGenerator):  # left early: close the connection now, not when collected
                    await replies.aclose()
            yield again
            await self._sleep(wait)

    def _wait(self, busy: ModelBusy, attempt: int) -> float:
        """Seconds until the next attempt; raises the failure when there is none."""
        if attempt >= self._attempts:
            raise _with_words(busy, f"Given up after {attempt} attempts.") from busy
        if busy.retry_after is None:
            return float(min(_LONGEST, _FIRST * 2 ** (attempt - 1)) * (1 - self._random() / 4))
        if busy.retry_after > self._cap:
            raise _with_words(busy, f"The server asks to wait {busy.retry_after:.0f} s; try again then.") from busy
        return busy.retry_after


def _with_words(busy: ModelBusy, words: str) -> ModelBusy:
    return ModelBusy(
        f"{busy} {words}",
        category=busy.category,
        status=busy.status,
        retry_after=busy.retry_after,
        request_id=busy.request_id,
    )
