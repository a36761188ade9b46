"""Clocks that run backwards or far ahead: order comes from numbers, ages are never negative."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.events import Noted, Opened, UserSaid
from codeagent.core.messages import Text
from codeagent.fronts.present import age
from codeagent.sessions import index
from codeagent.sessions.load import load
from codeagent.sessions.store import Log

TIMES = st.floats(-1e10, 1e11)
"""Seconds from the 17th century to the 52nd."""


@given(st.lists(TIMES, min_size=2, max_size=12))
def test_entries_stay_in_the_order_in_which_they_came(tmp_path_factory, times: list[float]) -> None:
    path: Path = tmp_path_factory.mktemp("log") / "s1.jsonl"
    clock = iter([*times, times[0]])
    entries = [
        Opened("s1", "/p", (), (), "m", 10),
        UserSaid((Text("go"),)),
        *(Noted(str(n)) for n in range(len(times))),
    ]
    log = Log.create(path, lambda: next(clock))
    for entry in entries[: len(times)]:
        log.append(entry)
    log.close()
    loaded = load(path)
    assert loaded.entries == entries[: len(times)]
    assert loaded.notices == ()
    told = index.describe(path)
    assert told is not None
    assert age(told.when, now=times[0]) != ""


@given(TIMES, TIMES)
def test_an_age_is_never_negative(past: float, now: float) -> None:
    assert "-" not in age(past, now)
