"""Encoding only what is new gives the same bytes as encoding everything."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from codeagent.core.conversation import Fold, request
from codeagent.core.events import Entry
from codeagent.models import anthropic_wire, features
from codeagent.models.encoded import Encoder
from tests.core.test_conversation import histories

MODELS = ("claude-sonnet-5-5", "claude-haiku-4-5", "unheard-of")


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=60)
@given(entries=histories())
def test_what_is_kept_changes_no_byte(model: str, entries: list[Entry]) -> None:
    fold, encoder = Fold(), Encoder()
    for length in range(2, len(entries) + 1):
        grown = msgspec.structs.replace(fold.request(entries[:length]), model=model)
        wanted = features.wanted(model, grown.without)
        whole = anthropic_wire.body(msgspec.structs.replace(request(entries[:length]), model=model), wanted)
        sent, traces = encoder.encode(grown, wanted)
        assert sent == msgspec.json.encode({**whole, "stream": True})
        assert traces == anthropic_wire.traces(whole, wanted)
