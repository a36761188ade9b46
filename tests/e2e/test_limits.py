"""The valves from the command line: each stops the run in time, with its own subtype and exit 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.program import results
from tests.loopback import Loopback, Reply, call, say


def endless(body: object) -> Reply:
    """Another file every time: progress without an end."""
    return call("bash", command=f"echo {len(body['messages'])}")  # type: ignore[index]


@pytest.mark.parametrize(
    ("limit", "subtype"),
    [
        (("--max-turns", "3"), "error_max_turns"),
        (("--max-tokens-total", "4000"), "error_max_tokens_total"),
        (("--max-budget-usd", "0.01"), "error_max_budget_usd"),
        (("--max-seconds", "0.3"), "error_max_seconds"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_limit_stops_the_run(limit: tuple[str, str], subtype: str, program: Open) -> None:
    with Loopback(endless) as server:
        made = program(server)
        ran = (
            made.headless("go", *limit, "--max-turns", "60")
            if limit[0] != "--max-turns"
            else made.headless("go", *limit)
        )
        again = made.run("-p", "once more", "-c", "--max-turns", "1", "--output-format", "json")
    assert (ran.code, ran.result["subtype"]) == (3, subtype), ran.err
    assert ran.result["is_error"]
    assert "result" not in ran.result
    assert len(ran.err.strip().splitlines()) == 1, "one line says why"
    assert again.code == 3
    assert not any(seen.problems for seen in server.requests)


def test_the_same_failing_call_is_not_made_a_third_time(program: Open, shop: Path) -> None:
    with Loopback(lambda body: call("bash", command="echo x >>ran; exit 3")) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
    assert (ran.code, ran.result["subtype"]) == (3, "error_no_progress")
    assert len((shop / "ran").read_text().split()) < 4


def test_a_poll_whose_result_changes_is_progress(program: Open, shop: Path) -> None:
    polls = [call("bash", command="echo x >>count; wc -l <count") for _ in range(8)]
    with Loopback([*polls, say("It is 8.")]) as server:
        ran = program(server).headless("go", "--permission-mode", "bypass")
        assert results(server.bodies[-1])[-1][0].split()[0] == "8"
    assert ran.code == 0, ran.err


def test_a_warning_comes_before_the_limit(program: Open) -> None:
    with Loopback([*(call("bash", command=f"echo {n}") for n in range(9)), say("Done.")]) as server:
        ran = program(server).headless("go", "--max-turns", "10")
    assert ran.code == 0, ran.err
    assert [line for line in ran.lines if line.get("level") == "warning"]
