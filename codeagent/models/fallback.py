"""A Model that asks others in turn when the first cannot answer: overloaded, broken or not there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

from msgspec.structs import replace

from codeagent.core.errors import ModelError
from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Request
from codeagent.core.ports import Model, ModelInfo

MOST = 3
"""More substitutes than this only hide that something is wrong."""

REASONS = frozenset({"overloaded", "server_error", "model_not_found", "timeout"})
"""Never for a key, a bill, a rate limit, a size or the network: another model would fail alike, or cost unasked."""


class Fallback:
    """Implements ports.Model: `names` are asked in order after the request's own model, for that request alone."""

    def __init__(self, inner: Model, names: Sequence[str]) -> None:
        self._inner, self._names = inner, tuple(names[:MOST])

    def info(self, model: str) -> ModelInfo:
        return self._inner.info(model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        left = [name for name in self._names if name != request.model]
        while True:
            try:
                parts = cast("AsyncGenerator[Any, None]", self._inner.stream(request))
                async with aclosing(parts):
                    async for part in parts:
                        yield part
                return
            except ModelError as fault:
                if fault.category not in REASONS or not left:
                    raise
                name = left.pop(0)
                yield Retried(1, 1, 0, f"{fault} Asking {name} instead", fault.category, fault.status)
                request = replace(request, model=name, max_tokens=min(request.max_tokens, self.info(name).max_output))
