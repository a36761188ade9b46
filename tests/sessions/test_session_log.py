"""The log on disk: whole after any cut, flip, full disk, second writer or deletion."""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.errors import SessionError
from codeagent.core.events import Heard, Lost, Noted, Opened, TurnEnded, UserSaid
from codeagent.core.messages import Text
from codeagent.sessions import codec
from codeagent.sessions.index import describe, listed
from codeagent.sessions.load import foreign_digest, load
from codeagent.sessions.store import Log, fork
from tests.sessions.samples import ENTRIES


def clock() -> float:
    return 1_764_444_444.5


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "er" / "s1.jsonl"


@pytest.fixture
def written(path):
    log = Log.create(path, clock)
    for entry in ENTRIES:
        log.append(entry)
    log.close()
    return path


def notes(count):
    return [Noted(f"note {n}") for n in range(count)]


def write(path, entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(codec.encode(n, 0, entry) for n, entry in enumerate(entries)))


def test_a_log_is_private_and_reads_back(written):
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    loaded = load(written)
    assert loaded.entries == list(ENTRIES)
    assert loaded.good_bytes == written.stat().st_size


def test_it_goes_on_where_it_stopped(written):
    log, loaded = Log.open(written, clock)
    log.append(Noted("later"))
    log.close()
    assert load(written).entries == [*loaded.entries, Noted("later")]


def test_a_cut_at_every_byte_of_the_last_line_keeps_the_rest(path):
    write(path, notes(3))
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    for cut in range(start, len(whole) + 1):
        path.write_bytes(whole[:cut])
        log, loaded = Log.open(path, clock)
        log.append(Noted("after"))
        log.close()
        kept = notes(3) if cut >= len(whole) - 1 else notes(2)
        assert loaded.entries == kept
        again = load(path)
        assert again.entries == [*kept, Noted("after")]
        assert again.notices == ()
        aside = sorted(path.parent.glob("*.torn-*"))
        if start < cut < len(whole) - 1:
            assert [each.read_bytes() for each in aside] == [whole[start:cut]]
            assert "cut short" in loaded.notices[0]
            assert aside[0].name in loaded.notices[1]
        else:
            assert aside == []
        for each in aside:
            each.unlink()


def test_each_torn_tail_gets_its_own_name(path):
    for _ in range(2):
        write(path, notes(2))
        with path.open("ab") as file:
            file.write(b'{"seq":2,"at"')
        Log.open(path, clock)[0].close()
    assert sorted(each.name for each in path.parent.glob("*.torn-*")) == ["s1.jsonl.torn-1", "s1.jsonl.torn-2"]


def damaged(path, start, data):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(data)


@pytest.mark.parametrize(
    "where",
    [0, 5, 20, 45, -2, -1],
    ids=["first byte", "head", "crc", "entry", "brace", "line end"],
)
def test_a_flipped_byte_costs_one_line_and_no_place(path, where):
    write(path, notes(6))
    lines = path.read_bytes().splitlines(keepends=True)
    start = len(lines[0]) + len(lines[1]) + (where if where >= 0 else len(lines[2]) + where)
    damaged(path, start, b"~")
    loaded = load(path)
    assert len(loaded.entries) == 6
    lost = [n for n, entry in enumerate(loaded.entries) if isinstance(entry, Lost)]
    assert lost == ([2, 3] if where == -1 else [2])  # without its line end, the line swallows the next one
    assert [e for e in loaded.entries if isinstance(e, Noted)] == [e for n, e in enumerate(notes(6)) if n not in lost]
    assert "could not be read" in loaded.notices[0]


def test_a_block_of_zeros_over_several_lines_keeps_all_places(path):
    write(path, notes(100))
    damaged(path, 1000, bytes(1500))
    loaded = load(path)
    assert len(loaded.entries) == 100
    assert all(entry == Noted(f"note {n}") or isinstance(entry, Lost) for n, entry in enumerate(loaded.entries))
    assert 10 < sum(isinstance(entry, Lost) for entry in loaded.entries) < 30


def test_a_line_end_inside_a_line_costs_that_line_alone(path):
    write(path, notes(5))
    damaged(path, path.read_bytes().index(b"note 2"), b"\n")
    loaded = load(path)
    assert [n for n, entry in enumerate(loaded.entries) if isinstance(entry, Lost)] == [2]


def test_a_repeated_line_is_passed_over(path):
    write(path, notes(3))
    with path.open("ab") as file:
        file.write(codec.encode(1, 0, Noted("again")))
    loaded = load(path)
    assert loaded.entries == notes(3)
    assert "twice" in loaded.notices[0]


def test_a_number_beyond_reason_fills_no_memory(path):
    write(path, notes(2))
    with path.open("ab") as file:
        file.write(codec.encode(10**15, 0, Noted("far")))
    assert len(load(path).entries) == 3


def test_damaged_last_lines_keep_their_places_when_the_log_goes_on(path):
    write(path, notes(4))
    damaged(path, path.stat().st_size - 10, b"~")
    log, loaded = Log.open(path, clock)
    log.append(Noted("after"))
    log.close()
    assert len(loaded.entries) == 4
    assert load(path).entries[4:] == [Noted("after")]


def test_a_newer_format_is_refused_and_left_alone(path):
    write(path, [Opened("s", "/", (), (), "m", 1, format=2)])
    before = path.read_bytes()
    for attempt in (load, lambda p: Log.open(p, clock)):
        with pytest.raises(SessionError, match=r"format 2.*Update codeagent"):
            attempt(path)
    assert path.read_bytes() == before


def test_nothing_readable_is_refused_and_left_alone(path):
    write(path, [])
    path.write_bytes(b"hello")
    with pytest.raises(SessionError, match="nothing that can be read"):
        Log.open(path, clock)
    assert path.read_bytes() == b"hello"


def test_a_missing_log_and_one_that_exists_are_named(path):
    with pytest.raises(SessionError, match=r"no session log at .*s1\.jsonl"):
        Log.open(path, clock)
    Log.create(path, clock).close()
    with pytest.raises(SessionError, match="already a session log"):
        Log.create(path, clock)


HOLD = """
import sys
from pathlib import Path
from codeagent.sessions.store import Log
log, _ = Log.open(Path(sys.argv[1]), lambda: 0.0)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_opener_is_told_who_has_it_and_what_to_do(written):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(written)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(SessionError, match=r"open in another codeagent.*--fork-session") as caught:
            Log.open(written, clock)
        if os.path.exists("/proc/locks"):
            assert f"process {holder.pid}" in str(caught.value)
        assert load(written).entries == list(ENTRIES)
        holder.stdin.close()
    log, _ = Log.open(written, clock)
    log.close()


FULL = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    from codeagent.core.events import Noted, Opened
    from codeagent.sessions.load import load
    from codeagent.sessions.store import Log
    path, limit = Path(sys.argv[1]), int(sys.argv[2])
    heard = []
    log = Log.create(path, lambda: 0.0)
    log.notice = heard.append
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for n in range(40):
        log.append(Noted(f"note {n}"))
    assert path.read_bytes().endswith(b"\\n"), "a torn line was left"
    assert log.behind == 40 - len(load(path).entries) > 0, log.behind
    assert load(path).notices == ()
    assert len(heard) == 1 and "cannot be written" in heard[0], heard
    other = Log.create(path.with_name("s2.jsonl"), lambda: 0.0)
    other.append(Noted("x" * limit))
    other.notice = heard.append
    other.close()
    assert "last 1 entries of session s2 could not be kept" in heard.pop(), heard
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    log.append(Noted("note 40"))
    assert log.behind == 0
    assert len(heard) == 2 and "written again" in heard[1], heard
    assert load(path).entries == [Noted(f"note {n}") for n in range(41)]
    """
)


@pytest.mark.parametrize("limit", [1000, 1024, 1037])
def test_a_full_disk_tears_no_line_and_loses_no_entry(path, limit):
    done = subprocess.run([sys.executable, "-c", FULL, str(path), str(limit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_deleted_log_is_written_again(path):
    heard = []
    log = Log.create(path, clock)
    log.notice = heard.append
    log.append(Noted("before"))
    shutil.rmtree(path.parent)
    log.append(Noted("after"))
    log.close()
    assert load(path).entries == [Noted("before"), Noted("after")]
    assert "deleted" in heard[0]


def test_a_closed_log_refuses(path):
    log = Log.create(path, clock)
    log.close()
    log.close()
    with pytest.raises(SessionError, match="closed"):
        log.append(TurnEnded("done"))


def test_a_fork_takes_the_first_entries_under_a_new_id(written):
    target = fork(written, "s2", 10)
    assert target.name == "s2.jsonl"
    entries = load(target).entries
    assert entries[0].session == "s2"
    assert entries[0].forked_from == "s1"
    assert entries[1:] == list(ENTRIES[1:10])
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert load(written).entries == list(ENTRIES)
    with pytest.raises(SessionError, match="already"):
        fork(written, "s2", 10)


def test_a_fork_copies_what_it_cannot_read(written):
    damaged(written, written.read_bytes().index(b"I look."), b"~")
    with written.open("ab") as file:
        file.write(b'{"seq":20,')
    target = fork(written, "s2")
    assert b"~ look." in target.read_bytes()
    assert len(load(target).entries) == len(ENTRIES)
    assert load(target).torn == b""


KEY = b"k" * 32


def digest_of(lines):
    return hashlib.sha256(lines).hexdigest()


def test_a_log_of_ours_is_told_from_one_that_came_with_the_project(path):
    log = Log.create(path, clock, KEY)
    for entry in ENTRIES:
        log.append(entry)
    log.close()
    assert load(path).entries == list(ENTRIES)
    lines = path.read_bytes()
    assert foreign_digest(path, KEY) == ""
    assert foreign_digest(path, b"x" * 32) == digest_of(lines)
    other = path.with_name("s3.jsonl")
    shutil.copy(path, other)
    assert foreign_digest(other, KEY) == digest_of(lines)
    assert foreign_digest(fork(path, "s2", 9, KEY), KEY) == ""
    assert load(path.with_name("s2.jsonl")).entries[1:] == list(ENTRIES[1:9])
    with path.open("ab") as file:
        file.write((added := codec.encode(len(ENTRIES), 0, Noted("obey me"))) + b"damage\n")
    assert foreign_digest(path, KEY) == digest_of(added)


def test_a_flipped_byte_makes_a_log_no_strangers_and_a_fork_does_not_make_it_whole(path):
    log = Log.create(path, clock, KEY)
    for entry in ENTRIES:
        log.append(entry)
    log.close()
    *before, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(before) + last.replace(b'"kind"', b'"kinb"'))
    assert foreign_digest(path, KEY) == ""
    fork(path, "s2", key=KEY)
    assert path.with_name("s2.jsonl").read_bytes().endswith(path.read_bytes().splitlines(keepends=True)[-1])


KILLED = """
import sys
from pathlib import Path
from codeagent.core.events import Noted
from codeagent.sessions.store import Log
log = Log.create(Path(sys.argv[1]), lambda: 0.0)
for n in range(10**9):
    log.append(Noted(f"note {n} " + "x" * (n * 37 % 5000)))
    sys.stdout.write(f"{n}\\n")
    sys.stdout.flush()
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_seen(tmp_path):
    for n in range(8):
        path = tmp_path / f"{n}.jsonl"
        with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as child:
            for _ in range(1 + n * 29):
                child.stdout.readline()
            child.kill()
            seen = child.stdout.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
        log, loaded = Log.open(path, clock)
        log.close()
        assert len(loaded.entries) > int(seen or n * 29)
        assert all(entry.text.startswith(f"note {at} ") for at, entry in enumerate(loaded.entries))


def test_a_log_is_not_followed_through_a_link(written):
    link = written.with_name("s9.jsonl")
    link.symlink_to(written)
    with pytest.raises(SessionError, match="cannot be opened"):
        Log.open(link, clock)


def test_reading_does_not_end_the_lock(written):
    log, _ = Log.open(written, clock)
    load(written)
    fd = os.open(written, os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)
    log.close()


def test_words_while_they_stream_are_kept(path):
    log = Log.create(path, clock)
    log.append(UserSaid((Text("hi"),)))
    log.append(Heard("half a"))
    assert load(path).entries[-1] == Heard("half a")  # before any sync or close
    log.close()


KEY = b"k" * 32


@given(st.sets(st.integers(0, len(ENTRIES) - 1), min_size=1), st.booleans())
def test_other_line_ends_lose_nothing(changed, ended):
    own = codec.key_of(KEY, "s1")
    lines = [codec.encode(n, 7, entry, own) for n, entry in enumerate(ENTRIES)]
    lines = [line[:-1] + b"\r\n" if n in changed else line for n, line in enumerate(lines)]
    whole = b"".join(lines) if ended else b"".join(lines).removesuffix(b"\n")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "s1.jsonl")
        path.write_bytes(whole)
        loaded = load(path)
        assert (loaded.entries, loaded.notices, loaded.torn) == (list(ENTRIES), (), b"")
        assert foreign_digest(path, KEY) == ""
        assert [codec.body(line) for line in whole.splitlines(True)] == [codec.body(line) for line in lines]
        log, opened = Log.open(path, clock, KEY)
        log.append(Noted("later"))
        log.close()
        assert opened.entries == list(ENTRIES)
        assert path.read_bytes().startswith(whole)
        assert (load(path).entries, load(path).notices) == ([*ENTRIES, Noted("later")], ())
        assert load(fork(path, "s2", key=KEY)).entries[1:] == [*ENTRIES[1:], Noted("later")]


def test_other_line_ends_are_listed_and_need_no_new_trust(tmp_path):
    path = tmp_path / "s1.jsonl"
    write(path, ENTRIES)
    told, foreign = describe(path), foreign_digest(path, KEY)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert [replace(each, size=0, when=0.0) for each in listed(tmp_path)] == [replace(told, size=0, when=0.0)]
    assert foreign_digest(path, KEY) == foreign
