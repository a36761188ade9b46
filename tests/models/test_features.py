"""The capability table: who takes what, and what a refusal speaks of."""

from __future__ import annotations

import pytest

from codeagent.models.catalog import listed
from codeagent.models.features import FEATURES, NAMES, headers, refused, wanted

TABLE = {
    "claude-sonnet-5-5": {"mid_system", "effort", "thinking_display", "adaptive_thinking"},
    "claude-fable-5-2": {"mid_system", "effort", "thinking_display", "adaptive_thinking"},
    "claude-sonnet-5": {"effort", "thinking_display", "adaptive_thinking"},
    "claude-opus-4-8": {"mid_system", "effort", "thinking_display", "adaptive_thinking"},
    "claude-opus-4-7": {"effort", "thinking_display", "adaptive_thinking"},
    "claude-sonnet-4-6": {"effort", "adaptive_thinking"},
    "claude-opus-4-5": {"effort", "budget_thinking", "interleaved_thinking"},
    "claude-haiku-4-5": {"budget_thinking", "interleaved_thinking"},
    "anthropic/claude-haiku-4.5": {"budget_thinking", "interleaved_thinking"},
    "claude-mythos-preview": set(),
}


@pytest.mark.parametrize("model", TABLE)
def test_a_model_gets_what_it_takes(model: str) -> None:
    always = {"cache", "cache_1h"} | ({"diagnostics"} if "preview" not in model else set())
    assert wanted(model) == TABLE[model] | always


def test_an_unknown_model_gets_nothing_special() -> None:
    assert wanted("qwen3:30b") == {"cache", "cache_1h"}


def test_what_was_refused_is_left_out() -> None:
    assert wanted("claude-sonnet-5-5", ("effort", "mid_system")) == wanted("claude-sonnet-5-5") - {
        "effort",
        "mid_system",
    }


def test_no_model_gets_two_styles_of_thinking() -> None:
    for model, _ in listed():
        assert not {"adaptive_thinking", "budget_thinking"} <= wanted(model), model


def test_only_what_needs_a_header_gets_one() -> None:
    assert headers(wanted("claude-sonnet-5-5")) == {}
    assert headers(wanted("claude-haiku-4-5")) == {"anthropic-beta": "interleaved-thinking-2025-05-14"}


REFUSALS = [
    ("pictures", "Could not process image"),
    ("pictures", "messages.3.content.0.tool_result.content.0.image.source.base64.data: invalid base64 data"),
    ("pictures", "messages.2.content.1.image.source.base64: image exceeds 5 MB maximum: 6 MB > 5 MB"),
    ("pictures", "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"),
    ("pictures", "The PDF specified was not valid."),
    ("pictures", "The PDF specified is password protected."),
    ("mid_system", "messages.1.role: Input should be 'user' or 'assistant'"),
    ("mid_system", "role 'system' is not supported on this model"),
    ("mid_system", 'messages: Unexpected role "system". Use the top-level `system` parameter instead.'),
    ("effort", "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."),
    ("effort", "output_config: Extra inputs are not permitted"),
    ("effort", "output_config.effort: Extra inputs are not permitted"),
    ("thinking_display", "thinking.adaptive.display: Extra inputs are not permitted"),
    ("adaptive_thinking", "adaptive thinking is not supported on this model"),
    ("adaptive_thinking", "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags"),
    ("adaptive_thinking", "thinking: Extra inputs are not permitted"),
    ("adaptive_thinking", "This model does not support thinking"),
    ("interleaved_thinking", "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header"),
    ("diagnostics", "diagnostics: Extra inputs are not permitted"),
    ("cache_1h", "system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted"),
    ("cache", "tools.0.cache_control: Extra inputs are not permitted"),
    ("cache", "messages.0.content.0.text.cache_control: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("feature", "words"), REFUSALS)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_names_its_feature(feature: str, words: str, status: int) -> None:
    assert refused(status, words) == feature


def test_every_feature_can_be_refused() -> None:
    assert {feature for feature, _ in REFUSALS} | {"budget_thinking"} == NAMES | {"pictures"}
    assert len(NAMES) == len(FEATURES)
    assert refused(400, "thinking.enabled.budget_tokens: Extra inputs are not permitted", {"budget_thinking"})


@pytest.mark.parametrize(
    "words",
    [
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        "messages.3.content.0: `thinking` blocks in the latest assistant message cannot be modified; not supported",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0.type: Input tag 'x' does not match any of the expected tags: 'text', 'thinking'",
        "tools.3.custom.input_schema: JSON schema is invalid",
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
        "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens",
        "prompt is too long: 1100000 tokens > 1000000 maximum",
    ],
)
def test_another_fault_names_none(words: str) -> None:
    assert refused(400, words) == ""


def test_only_what_was_sent_can_have_been_refused() -> None:
    words = "This model does not support effort level 'high'."
    assert refused(400, words, {"cache"}) == ""
    assert refused(500, words) == ""
