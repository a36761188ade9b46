"""Time and identifiers."""

from __future__ import annotations

import re
import time

from codeagent.host.clock import RandomIds, SystemClock, session_id


def test_the_clock_is_the_machines() -> None:
    clock = SystemClock()
    assert abs(clock.now() - time.time()) < 1
    assert clock.monotonic() <= clock.monotonic()


def test_ids_have_their_prefix_and_differ() -> None:
    ids = RandomIds()
    made = {ids.new("turn") for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"turn_[a-z2-7]{12}", each) for each in made)
    assert RandomIds(lambda n: 0).new("q") == "q_aaaaaaaaaaaa"


def test_session_ids_sort_by_time() -> None:
    first, second = session_id(1_800_000_000), session_id(1_800_000_001)
    assert first[:15] < second[:15]
    assert re.fullmatch(r"\d{8}-\d{6}-[a-z2-9]{4}", first)
