"""Another model is asked when the first cannot answer, and only then."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ModelBusy, ModelError, ModelUnavailable
from codeagent.core.events import AssistantSaid, Retried
from codeagent.core.messages import Message, Request, Text
from codeagent.models.fallback import Fallback
from tests.core.stage import Replies, say

REQUEST = Request("first", (), (), (Message("user", (Text("hi"),)),), 100)


async def test_an_overloaded_model_is_replaced_for_this_request_and_it_is_told() -> None:
    inner = Replies(ModelBusy("first is overloaded.", category="overloaded"), say("hello"))
    parts = [part async for part in Fallback(inner, ("second",)).stream(REQUEST)]
    assert [asked.model for asked in inner.asked] == ["first", "second"]
    retried = next(part for part in parts if isinstance(part, Retried))
    assert "Asking second instead" in retried.why
    assert isinstance(parts[-1], AssistantSaid)


@pytest.mark.parametrize("category", ["authentication_failed", "billing_error", "rate_limit", "connection"])
async def test_what_another_model_could_not_mend_is_raised(category: str) -> None:
    inner = Replies(ModelUnavailable("no", category=category), say("never"))  # type: ignore[arg-type]  # a category
    with pytest.raises(ModelError):
        _ = [part async for part in Fallback(inner, ("second",)).stream(REQUEST)]
    assert len(inner.asked) == 1


async def test_three_substitutes_at_most() -> None:
    inner = Replies(*[ModelBusy("busy", category="overloaded")] * 9)
    with pytest.raises(ModelBusy):
        _ = [part async for part in Fallback(inner, ("b", "c", "d", "e")).stream(REQUEST)]
    assert [asked.model for asked in inner.asked] == ["first", "b", "c", "d"]
