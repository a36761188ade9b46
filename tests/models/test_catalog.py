"""The model table."""

from __future__ import annotations

import pytest

from codeagent.core.messages import Usage
from codeagent.models import catalog
from codeagent.models.choice import NO_KEY, keyless


def test_every_alias_and_the_default_are_in_the_table() -> None:
    ids = {id_ for id_, _ in catalog.listed()}
    assert {catalog.DEFAULT, *catalog.ALIASES.values()} <= ids


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("opus", "claude-opus-5-5"),
        ("Sonnet", "claude-sonnet-5-5"),
        ("haiku-4-5", "claude-haiku-4-5"),
        ("claude-opus-4-6", "claude-opus-4-6"),
        ("my-gateway/model", "my-gateway/model"),
    ],
)
def test_names_resolve(name: str, id_: str) -> None:
    assert catalog.resolve(name) == id_


@pytest.mark.parametrize(
    "name", ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4.5", "us.anthropic.claude-haiku-4-5-20251001-v1:0"]
)
def test_a_dated_or_prefixed_name_gets_the_figures_of_its_model(name: str) -> None:
    info = catalog.info(name)
    assert info.id == name
    assert (info.window, info.max_output, info.efforts) == (200_000, 64_000, ())
    assert info.price == catalog.info("claude-haiku-4-5").price


def test_an_unknown_model_gets_cautious_figures_and_no_price() -> None:
    info = catalog.info("qwen3:30b")
    assert (info.window, info.max_output, info.price) == (200_000, 32_000, None)
    assert catalog.cost("qwen3:30b", Usage(1000, 1000)) is None


def test_an_unknown_version_does_not_get_another_versions_price() -> None:
    assert catalog.info("claude-sonnet-9").price is None
    assert catalog.info("claude-haiku-4").price is None


def test_a_cost_counts_each_kind_of_token_at_its_price() -> None:
    usage = Usage(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=10_000, cache_write_1h=20_000)
    assert catalog.cost("claude-opus-5-5", usage) == pytest.approx(4 + 2 + 0.4 + 0.05 + 0.16)


def test_a_long_prompt_costs_more_where_the_list_says_so() -> None:
    assert catalog.cost("claude-haiku-5-5", Usage(input=100_000)) == pytest.approx(0.01)
    assert catalog.cost("claude-haiku-5-5", Usage(input=100_001)) == pytest.approx(0.0500005)
    assert catalog.cost("claude-haiku-5-5-20261001", Usage(cache_read=200_000)) == pytest.approx(0.01)


def test_a_misspelt_name_finds_its_neighbours() -> None:
    assert catalog.nearest("claude-sonet-5-5")[0] == "claude-sonnet-5-5"
    assert catalog.nearest("zzz") == ()


def test_a_line_names_price_and_alias() -> None:
    lines = dict(catalog.listed())
    assert lines["claude-sonnet-5-5"] == "Sonnet 5.5 · also sonnet · 1M window · $2 in, $10 out per million tokens"
    assert "price unknown" in lines["claude-fable-5-2"]


def test_a_name_that_nobody_knows_is_told_before_the_missing_key() -> None:
    assert keyless("claude-sonnet-5-5") == NO_KEY
    assert keyless("claude-sonet-5-5").startswith(
        "No model 'claude-sonet-5-5' is known here. Did you mean claude-sonnet-5"
    )
    assert keyless("nosuch").endswith(f"All models: codeagent models\n{NO_KEY}")
