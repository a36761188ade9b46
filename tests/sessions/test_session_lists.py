"""Lists, names and searches over many logs."""

import os
import shutil

import pytest

from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Opened, Titled, ToolFinished, TurnEnded, UserSaid
from codeagent.core.messages import Text, Usage
from codeagent.sessions.index import describe, find, latest, listed, sessions_dir, writable
from codeagent.sessions.search import search
from codeagent.sessions.store import Log
from tests.sessions.samples import ENTRIES


def begin(directory, name, *entries, at=1000.0, headless=False):
    log = Log.create(directory / f"{name}.jsonl", lambda: at)
    log.append(
        Opened(name, "/shop", ("system " * 5000,), (), "model-a", 100, branch="main", headless=headless, codeagent="1")
    )
    for entry in entries:
        log.append(entry)
    log.close()
    os.utime(log.path, (at, at))
    return log.path


def said(words):
    return UserSaid((Text(words),))


@pytest.fixture
def directory(tmp_path):
    here = tmp_path / "sessions"
    begin(here, "aaa111", said("Fix the\n cart  please"), AssistantSaid((), cost=0.5), TurnEnded("done"), at=1000)
    begin(here, "aab222", said("x" * 200), Titled("Totals"), AssistantSaid((), cost=None, usage=Usage(1)), at=3000)
    begin(here, "ccc333", said("run the checks"), at=5000, headless=True)
    begin(here, "ddd444", at=7000)
    (here / "note.txt").write_text("no log")
    return here


def test_a_list_shows_what_is_needed_to_choose(directory):
    newest, middle, oldest = listed(directory)
    assert (newest.id, newest.headless, newest.when) == ("ccc333", True, 5000)
    assert (middle.title, middle.cost) == ("Totals", None)
    assert (oldest.title, oldest.cost, oldest.turns, oldest.branch, oldest.model, oldest.cwd) == (
        "Fix the cart please",
        0.5,
        1,
        "main",
        "model-a",
        "/shop",
    )
    assert oldest.size == os.path.getsize(oldest.path)


def test_the_latest_passes_by_headless_and_empty_ones(directory):
    assert latest(directory).id == "aab222"
    assert latest(directory, include_headless=True).id == "ccc333"
    assert latest(directory / "none") is None
    assert listed(directory / "none") == []


def test_a_log_that_came_with_the_project_is_not_the_latest(directory):
    key = b"k" * 32
    assert latest(directory, key=key) is None
    log = Log.create(directory / "own777.jsonl", lambda: 500.0, key)
    log.append(said("mine"))
    log.close()
    os.utime(log.path, (500, 500))
    assert latest(directory, key=key).id == "own777"
    assert latest(directory).id == "aab222"


def test_long_first_words_are_cut(tmp_path):
    told = describe(begin(tmp_path, "s", said("word " * 100)))
    assert len(told.title) <= 72
    assert told.title.endswith("…")


@pytest.mark.parametrize(
    ("name", "wanted"), [("aaa111", "aaa111"), ("aab", "aab222"), ("totals", "aab222"), ("ddd444", "ddd444")]
)
def test_a_session_is_found_by_id_beginning_or_name(directory, name, wanted):
    assert find(directory, name).id == wanted


@pytest.mark.parametrize(
    ("name", "words"),
    [("aa", "2 sessions begin"), ("Totls", "Did you mean 'Totals'"), ("../aaa111", "no session"), ("", "no session")],
)
def test_what_names_no_session_is_said(directory, name, words):
    with pytest.raises(UsageFault, match=words):
        find(directory, name)


def test_every_kind_and_damage_can_be_listed(tmp_path):
    log = Log.create(tmp_path / "s1.jsonl", lambda: 9.0)
    for entry in ENTRIES:
        log.append(entry)
    log.close()
    assert describe(log.path).title == "The cart"
    data = log.path.read_bytes()
    for cut in range(0, len(data), 97):
        log.path.write_bytes(data[:cut] + b"\0" * 40 + data[cut + 40 :])
        listed(tmp_path)
    log.path.write_bytes(b"")
    assert describe(log.path) is None


def test_where_sessions_lie(tmp_path):
    project, state = tmp_path / "p", tmp_path / "state"
    project.mkdir()
    assert writable(project)
    assert sessions_dir(project, state, True) == project / ".agent" / "sessions"
    other = sessions_dir(project, state, False)
    assert other.is_relative_to(state / "codeagent")
    assert other != sessions_dir(tmp_path / "q", state, False)
    (project / ".agent").symlink_to(tmp_path)
    assert not writable(project)


def test_a_search_quotes_the_words_with_session_and_time(directory):
    begin(
        directory,
        "eee555",
        said("where is Größe computed?"),
        ToolFinished("t", "bash", (Text("a" * 500 + '\nsay "Größe"\n' + "b" * 500),)),
        at=9000,
    )
    first, second = search(directory, 'say "größe"'.replace("größe", "Größe")) + search(directory, "cart")
    assert (first.session, first.when, first.kind) == ("eee555", 9000, "tool_finished")
    assert 'say "Größe"' in first.text
    assert len(first.text) < 300
    assert first.text.startswith("…")
    assert second.session == "aaa111"
    assert search(directory, "system") == []  # the prompt is not what was said
    assert search(directory, "  ") == []


def test_one_session_does_not_hide_the_others(directory):
    begin(directory, "fff666", *[said("checks again") for _ in range(50)], at=9000)
    found = search(directory, "CHECKS")
    assert [each.session for each in found] == ["fff666"] * 5 + ["ccc333"]


@pytest.mark.parametrize("rg", ["", shutil.which("rg") or "", "/no/such/program"])
def test_every_way_of_searching_finds_the_same(directory, rg):
    begin(directory, "eee555", *[said(f"cart number {n}") for n in range(60)], at=9000)
    begin(directory, "fff666", said("The CART holds “Größe” twice: cart, cart"), at=9500)
    found = [(each.session, each.text) for each in search(directory, "cart", 7, rg=rg)]
    assert found == [
        ("fff666", "The CART holds “Größe” twice: cart, cart"),
        *[("eee555", f"cart number {n}") for n in range(5)],
        ("aaa111", "Fix the cart please"),
    ]
    assert search(directory, "nobody said that", rg=rg) == []
    assert len(search(directory, "“GRöße”", rg=rg)) == 1
