"""Searching: both engines alike, nothing left running, hostile files bounded."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codeagent.core.errors import ToolFault
from codeagent.host.git import hardened_env
from codeagent.host.listing import Lister
from codeagent.host.search import search
from codeagent.host.search_events import Query

WITH_RG = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
WITHOUT = {"PATH": ""}

WORDS = st.text(st.sampled_from("ab 1.x\té"), max_size=8)
TEXT = st.lists(st.tuples(WORDS, st.sampled_from(["\n", "\r\n"])), max_size=6).map(lambda ls: "".join(map("".join, ls)))
PATTERN = st.sampled_from(
    ["a", "^a", "b$", "a.b", r"\bab\b", "[ab]+1", "a|x", r"\d", "é", "(a)(b)?", "^$", r"\s", "x*"]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=TEXT, two=TEXT, pattern=PATTERN, word=st.booleans(), fold=st.booleans(), around=st.integers(0, 2))
async def test_both_engines_answer_alike(
    one: str, two: str, pattern: str, word: bool, fold: bool, around: int, tmp_path: Path
) -> None:
    assume(not (word and re.fullmatch(pattern, "")))  # where an empty word is, engines need not agree
    (tmp_path / "d").mkdir(exist_ok=True)
    (tmp_path / "one").write_bytes(one.encode())
    (tmp_path / "d/two").write_bytes(two.encode())
    query = Query(pattern, word=word, ignore_case=fold, before=around, after=around, keep=50)
    found = [await search(query, tmp_path, "", Lister(tmp_path, env)) for env in (WITH_RG, WITHOUT)]
    assert found[0] == found[1]


@pytest.mark.parametrize("env", [WITH_RG, WITHOUT])
async def test_very_many_hits_in_a_file_are_not_all_counted(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "few").write_text("a\n" * 50)
    (tmp_path / "many").write_text("a\n" * 51)
    found = await search(Query("a", counted=50, keep=5), tmp_path, "", Lister(tmp_path, env))
    assert (found.counts, found.endless) == ({"few": 50, "many": 50}, ["many"])
    deep = await search(Query("a", counted=10, skip=45, keep=5), tmp_path, "many", Lister(tmp_path, env))
    assert [line.number for line in deep.lines] == [46, 47, 48, 49, 50]


async def test_cancel_ends_the_worker(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 40 + "!\n")
    task = asyncio.create_task(search(Query("(a+)+$", keep=9), tmp_path, "", Lister(tmp_path, WITHOUT)))
    until = time.monotonic() + 10
    while not workers() and time.monotonic() < until:
        await asyncio.sleep(0.01)
    assert workers() or sys.platform != "linux"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not workers()


def workers() -> list[str]:
    """Search workers that are children of this process."""
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if entry.isdigit():
            try:
                parent = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1]
                command = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if int(parent) == os.getpid() and b"search_worker" in command:
                found.append(entry)
    return found


@pytest.mark.parametrize("env", [WITH_RG, WITHOUT], ids=["rg", "python"])
async def test_hostile_files_are_bounded(env: dict[str, str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(".")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "new\nline").write_text("needle\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff")).write_text("needle\n")
    found = await asyncio.wait_for(search(Query("needle", keep=9), tmp_path, "", Lister(tmp_path, env)), 20)
    assert found.counts == {"new\nline": 1, "bad\udcff": 1}


@pytest.mark.parametrize("env", [WITH_RG, WITHOUT], ids=["rg", "python"])
async def test_a_pattern_is_never_an_option(env: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "x"
    script.write_text("#!/bin/sh\ntouch ran\n--pre=./x\n")
    script.chmod(0o755)
    found = await search(Query("--pre=./x", keep=9), tmp_path, "", Lister(tmp_path, env))
    assert found.counts == {"x": 1}
    assert not (tmp_path / "ran").exists()


async def test_a_bad_pattern_says_why(tmp_path: Path) -> None:
    for env in (WITH_RG, WITHOUT):
        with pytest.raises(ToolFault, match="pattern: ") as caught:
            await search(Query("(", keep=1), tmp_path, "", Lister(tmp_path, env))
        assert caught.value.kind == "invalid_regex"


async def test_rules_above_the_repository_do_not_count(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / ".gitignore").write_text("b\n")
    for name in ("a", "b", "sub/a", "sub/b"):
        (root / name).write_text("needle\n")
    for repository in (False, True):
        if repository:
            subprocess.run(["git", "init", "-q"], cwd=root, env=hardened_env(WITH_RG), check=True)
        for folder, expected in ((root, ["a", "sub/a"]), (root / "sub", ["a"])):
            for env in (WITH_RG, WITHOUT):
                if env is WITHOUT or repository or folder == root:
                    found = await search(Query("needle", keep=9), folder, "", Lister(root, env))
                    assert list(found.counts) == expected, (repository, folder, env)
