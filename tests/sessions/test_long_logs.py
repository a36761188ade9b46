"""Of a long log only what is still needed is loaded, and nothing about the session is different for it."""

from __future__ import annotations

import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.conversation import parameters, request
from codeagent.core.events import (
    NOT_LOADED,
    Asked,
    AssistantSaid,
    Compacted,
    Earlier,
    Entry,
    Heard,
    Noted,
    Opened,
    Queued,
    Rewound,
    Saw,
    Switched,
    Titled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Text, ToolSchema, ToolUse, Usage
from codeagent.core.seen import Seen
from codeagent.core.views import Plain, Todo, TodoItem
from codeagent.sessions import codec
from codeagent.sessions.earlier import LARGE, _mac, beginning, index_of
from codeagent.sessions.index import describe
from codeagent.sessions.load import foreign_digest, load, resume
from codeagent.sessions.store import Log
from codeagent.sessions.upkeep import delete
from tests.core.stage import Stage
from tests.core.test_conversation import histories

KEY = b"k" * 32
OUTPUT = "a line of output\n"


def turn(number: int, output: str = OUTPUT) -> Iterator[Entry]:
    yield UserSaid((Text(f"please do {number}"),), queued=f"q{number - 1}")
    for step in range(3):
        use = f"t{number}_{step}"
        yield Asked(step, "m", "d", "s", "t", 1, 100)
        yield Heard("some words")
        yield AssistantSaid(
            (Text("I look."), ToolUse(use, "read", {})), "tool_use", Usage(10, 5, 100), "m", 0.01, f"m{number}_{step}"
        )
        yield ToolStarted(use, "read", "a", "Read a", Plain("a"))
        saw = (Saw(f"/p/{number % 4}.py", f"{number}" * 8),)
        yield ToolFinished(use, "read", (Text(output),), saw=saw, took_ms=7, cwd=f"/p/{number}" if step == 1 else "")
    todo = Todo((TodoItem(f"item {number}"),))
    yield ToolFinished(f"todo{number}", "todo", (Text("ok"),), view=todo)
    yield Noted(f"guidelines {number}", "model", "guidelines", digest=f"g{number}")
    if number % 3 == 0:
        yield Switched(mode="plan" if number % 2 else "default", effort=f"e{number}")
    yield Queued(f"q{number}", f"later {number}", "turn")
    yield AssistantSaid((Text("Done."),), usage=Usage(1, 2), model="m", cost=0.02, message_id=f"end{number}", took_ms=9)
    yield TurnEnded("done", took_ms=50)


def session(turns: int, every: int = 4, output: str = OUTPUT) -> list[Entry]:
    """Turns with a summary after `every` few of them."""
    tools = (ToolSchema("read", "Read.", {"type": "object"}),)
    entries: list[Entry] = [Opened("s", "/p", ("sys",), tools, "m", 100, branch="main"), Titled("The first name")]
    for number in range(1, turns + 1):
        entries += turn(number, output)
        if number % every == 0:
            entries.append(Compacted(f"Summary {number}", len(entries) - 12, (), "auto", 900, 90, Usage(9, 9), 0.1))
    return entries


def write(path: Path, entries: list[Entry]) -> Path:
    log = Log.create(path, lambda: 1000.0, KEY) if not path.exists() else Log.open(path, lambda: 1000.0, KEY)[0]
    for entry in entries:
        log.append(entry)
    log.close()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def standing(entries: list[Entry]) -> dict[str, object]:
    """Everything that a session that goes on asks of its entries."""
    agent, seen = Stage(entries=entries).agent, Seen(entries, "/p")
    files = seen.recent()
    return {
        "request": request(entries),
        "parameters": parameters(entries),
        "meter": {k: v for k, v in vars(agent.meter).items() if k not in ("turn", "step", "_between")},
        "waiting": agent.waiting,
        "title": agent.title,
        "todo": agent.todo,
        "seen": {name: seen.latest(name) for name in files},
        "cwd": seen.cwd,
        "told": [e.digest for e in entries if isinstance(e, Noted) and e.digest][-1],
        "length": len(entries),
    }


@pytest.mark.parametrize("turns", [4, 5, 9, 14])
def test_a_resumed_session_stands_where_the_whole_one_does(path: Path, turns: int) -> None:
    write(path, session(turns))
    whole, resumed = load(path).entries, resume(path, KEY, least=0).entries
    assert resumed.count(NOT_LOADED) > 15
    assert [e for e in resumed if isinstance(e, ToolFinished)] != [e for e in whole if isinstance(e, ToolFinished)]
    assert standing(resumed) == standing(whole)


@settings(max_examples=200)
@given(entries=histories(), twice=st.booleans())
def test_any_history_gives_the_same_request(entries: list[Entry], twice: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.jsonl"
        lines = [codec.encode(number, 1, entry) for number, entry in enumerate(entries)]
        if twice:  # an index of the first half has to grow
            path.write_bytes(b"".join(lines[: len(lines) // 2]))
            resume(path, least=0)
        path.write_bytes(b"".join(lines))
        resumed = resume(path, least=0).entries
        assert request(resumed) == request(entries)
        assert len(resumed) == len(entries)
        assert Stage(entries=resumed).agent.meter.usage == Stage(entries=entries).agent.meter.usage


def test_the_index_grows_with_the_log(path: Path) -> None:
    write(path, session(9))
    resume(path, KEY, least=0)
    first = index_of(path).read_bytes()
    write(path, session(14)[len(session(9)) :])
    grown = resume(path, KEY, least=0).entries
    assert index_of(path).read_bytes() != first
    index_of(path).unlink()
    assert resume(path, KEY, least=0).entries == grown
    assert standing(grown) == standing(load(path).entries)


@pytest.mark.parametrize("spoilt", [b"", b"nonsense", b"0" * 32 + b'\n{"format":1}'])
def test_a_spoilt_index_is_made_anew(path: Path, spoilt: bytes) -> None:
    write(path, session(9))
    resumed = resume(path, KEY, least=0).entries
    good = index_of(path).read_bytes()
    index_of(path).write_bytes(spoilt)
    assert resume(path, KEY, least=0).entries == resumed
    assert index_of(path).read_bytes() == good


def test_an_index_that_came_with_the_project_does_not_count(path: Path) -> None:
    write(path, session(9))
    own = codec.key_of(KEY, "s")
    known = beginning(path, own, least=0)
    assert known is not None
    forged = msgspec.structs.replace(known, kept={**known.kept, 1: Titled("forged")}, foreign=0)
    data = msgspec.json.encode(forged)
    index_of(path).write_bytes(_mac(data, codec.key_of(b"other" * 8, "s")) + b"\n" + data)
    assert parameters(resume(path, KEY, least=0).entries) == parameters(load(path).entries)
    assert [e.title for e in resume(path, KEY, least=0).entries if isinstance(e, Titled)] == ["The first name"]


def test_a_link_in_the_place_of_an_index_is_not_followed(path: Path) -> None:
    write(path, session(9))
    own = path.with_name("profile")
    own.write_text("mine")
    index_of(path).symlink_to(own)
    assert NOT_LOADED in resume(path, KEY, least=0).entries
    assert own.read_text() == "mine"


def test_a_pipe_in_the_place_of_an_index_is_not_waited_for(path: Path) -> None:
    write(path, session(9))
    os.mkfifo(index_of(path))
    assert NOT_LOADED in resume(path, KEY, least=0).entries


def test_a_rewind_behind_the_summary_loads_everything(path: Path) -> None:
    entries = session(9)
    write(path, [*entries, Rewound(20)])
    assert resume(path, KEY, least=0).entries == load(path).entries == [*entries, Rewound(20)]


def test_a_rewind_after_the_summary_does_not(path: Path) -> None:
    entries = session(9)
    write(path, [*entries, Rewound(len(entries) - 1)])
    resumed = resume(path, KEY, least=0).entries
    assert NOT_LOADED in resumed
    assert request(resumed) == request(load(path).entries)


def test_words_about_a_summary_are_none(path: Path) -> None:
    trap = ToolUse("x", "edit", {"e": {"kind": "compacted", "keep_from": 3, "summary": "no"}})
    entries = [*session(9), UserSaid((Text('"e":{"kind":"compacted"'),)), AssistantSaid((trap,))]
    write(path, entries)
    assert standing(resume(path, KEY, least=0).entries) == standing(entries)


def test_damage_in_the_beginning_does_no_harm(path: Path) -> None:
    entries = session(9)
    write(path, entries)
    index_of(path).unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    at = data.index(b"a line of output")
    data[at : at + 4] = b"\0" * 4
    path.write_bytes(data)
    resumed = resume(path, KEY, least=0)
    assert resumed.notices == ()
    assert request(resumed.entries) == request(entries)


def test_the_log_goes_on_with_the_right_number(path: Path) -> None:
    write(path, session(40, output=OUTPUT * 6000))
    assert path.stat().st_size > LARGE
    assert index_of(path).exists()
    log, loaded = Log.open(path, lambda: 1000.0, KEY)
    assert NOT_LOADED in loaded.entries
    assert isinstance(loaded.entries[2], Earlier)
    log.append(Titled("Another"))
    log.close()
    whole = load(path)
    assert whole.notices == ()
    assert (len(whole.entries), whole.entries[-1]) == (len(loaded.entries) + 1, Titled("Another"))
    with_index = describe(path)
    assert foreign_digest(path, KEY) == ""
    assert foreign_digest(path, b"x" * 32) == hashlib.sha256(path.read_bytes()).hexdigest()
    index_of(path).unlink()
    assert describe(path) == with_index
    resume(path, KEY)
    delete(path)
    assert os.listdir(path.parent) == []


@pytest.mark.slow
def test_a_log_of_a_gigabyte_opens_in_three_seconds_with_bounded_memory(path: Path) -> None:
    line, number = OUTPUT * 1200, 0
    with path.open("wb") as file:
        for entry in session(2, output=line):
            file.write(codec.encode(number, 1, entry, codec.key_of(KEY, "s")))
            number += 1
        while file.tell() < 1 << 30:
            for entry in session(4, output=line)[2:]:
                moved = msgspec.structs.replace(entry, keep_from=number - 12) if isinstance(entry, Compacted) else entry
                file.write(codec.encode(number, 1, moved, codec.key_of(KEY, "s")))
                number += 1
    beginning(path, codec.key_of(KEY, "s"))
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entries = resume(path, KEY).entries
    request(entries)
    took = time.monotonic() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{path.stat().st_size / 1e9:.2f} GB, {len(entries):,} entries: {took:.2f} s, {grown // 1024} MB more")
    assert took < 3
    assert grown < 200 * 1024
