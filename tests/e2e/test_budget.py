"""Budgets in tokens and dollars: a warning at 80 %, then the stop, and figures that agree wherever they are shown."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import told
from tests.loopback import Loopback, Reply, call, say


def endless(body: object) -> Reply:
    """Another file every time: progress without an end."""
    return call("bash", command=f"echo {len(body['messages'])}")  # type: ignore[index]


@pytest.mark.parametrize(
    ("flag", "limit", "valve"), [("--max-tokens-total", 14_000, "tokens"), ("--max-budget-usd", 0.03, "dollars")]
)
def test_a_warning_comes_at_80_percent_and_the_stop_at_the_limit(
    flag: str, limit: float, valve: str, program: Open
) -> None:
    with Loopback(endless) as server:
        made = program(server)
        ran = made.headless("go", flag, str(limit), "--max-turns", "90")
    assert ran.code == 3, ran.err
    warning, stop = made.of("valve_closed")
    assert (warning["valve"], warning["warning"], stop["valve"]) == (valve, True, valve)
    assert 0.8 * limit <= warning["seen"] < limit <= stop["seen"]
    assert "Used" in warning["words"]
    if valve == "dollars":
        assert ran.result["total_cost_usd"] == pytest.approx(stop["seen"])


def test_figures_agree_and_prices_have_a_date(program: Open) -> None:
    with Loopback([call("bash", command="echo 1"), say("Done."), say("Again.")]) as server:
        made = program(server)
        ran = made.headless("go")
        counted = [seen.usage for seen in server.requests]
    usage = ran.result["usage"]
    assert usage["cache_read_input_tokens"] == sum(u["cache_read_input_tokens"] for u in counted)
    assert usage["cache_creation_input_tokens"] == sum(u["cache_creation_input_tokens"] for u in counted)
    shown = made.run("sessions", "show", made.logs[-1].stem).out
    assert "last turn" in shown
    assert "as listed on 2026-11-29" in shown
    assert f"${ran.result['total_cost_usd']:.2f}" in shown or f"${ran.result['total_cost_usd']:.4f}" in shown


def test_what_made_the_cache_useless_is_told_with_its_price(program: Open) -> None:
    with Loopback([say("One."), say("Two.")]) as server:
        made = program(server)
        made.headless("go")
        made.headless("go on", "-c", "--model", "opus")
        assert list(told(server.bodies[1]))
    (note,) = [note for note in made.of("noted") if note.get("topic") == "cache"]
    assert "the model was switched from claude-sonnet-5-5 to claude-opus-5-5" in note["text"]
    assert "That cost $" in note["text"]
    assert "missed     The cache of" in made.run("sessions", "show", made.logs[-1].stem).out
