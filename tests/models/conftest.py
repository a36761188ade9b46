"""Fixtures of the model tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from codeagent.models.anthropic import Anthropic
from tests.loopback import KEY, Loopback


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Anthropic]]:
    """Adapters for a loopback server, closed at the end."""
    made: list[Anthropic] = []

    def make(server: Loopback | str, **fields: Any) -> Anthropic:
        url = server if isinstance(server, str) else server.url
        made.append(Anthropic(**{"key": KEY, "base_url": url, **fields}))
        return made[-1]

    yield make
    for adapter in made:
        await adapter.close()
