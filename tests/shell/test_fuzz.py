"""Differential fuzz: what the reader calls plain, bash must run with exactly the words that were read."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.effects import ShellReading
from codeagent.shell.parse import parse

LINES = int(os.environ.get("FUZZ_LINES", "20000"))
SEED = int(os.environ.get("FUZZ_SEED", "20261129"))

FRAGMENTS = [
    "ls", "cat", "echo", "git", "status", "[", "]", "[[", "test", "a", "b", "-l", "--x=y", "1", "2", "=", "a=b",
    ":", "!", "time", "if", "{", "}", " ", " ", " ", "  ", "\t", "\n", ";", "&&", "||", "|", "|&", "&", " ; ",
    " && ", " | ", " || ", "\\\n", "\\ ", "\\\\", "\\#", "\\;", "\\'", '\\"', "'", "'", '"', '"', "''", '""',
    "'a b'", '"a b"', "'#'", "#", " #", " # x", "$", "$x", "${x}", "$(", ")", "`", "$'a\\'b'", '"$"', '"a$"',
    "$((1))", "*", "?", "~", "~/a", "{a,b}", "{}", "@{1}", "a,b", "..", "<a", "< b", ">/dev/null", " > /dev/null",
    "2>&1", " 2>&1", "2>/dev/null", "1>&2", "<<E", "<<<", "&>/dev/null", ">&2", "(", "-", "--", "%", "^", "+", "é",
    "日", "in", "do", "done", "case", "function", "coproc", "x()", "((", "\\$", "\\`",
]  # fmt: skip


def lines(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        chance.choice(["ls", "echo", "cat a", "git status", ""])
        + "".join(chance.choice(FRAGMENTS) for _ in range(chance.randint(1, 9)))
        for _ in range(count)
    ]


def expected(line: str, reading: ShellReading) -> list[tuple[str, ...]]:
    """What runs when every command succeeds: nothing that stands behind `||`."""
    ran: list[tuple[str, ...]] = []
    skipped = False
    for command, part in zip(parse(line).commands, reading.parts, strict=True):
        if command.link not in {"|", "|&"}:
            skipped = command.link == "||"
        if not skipped and part.words is not None:
            ran.append(part.words)
    return ran


def run_recorded(work: Path, wanted: list[str]) -> list[list[list[str]]]:
    recorder = Path(__file__).with_name("bash_recorder.py")
    command = [sys.executable, "-I", str(recorder), str(work)]
    if sealed := shutil.which("bwrap"):
        seal = [
            sealed,
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--bind",
            str(work),
            str(work),
            "--unshare-all",
            "--die-with-parent",
        ]
        works = subprocess.run([*seal, "true"], capture_output=True, check=False).returncode == 0
        command = [*(seal if works else []), *command]
    told = subprocess.run(command, input=json.dumps(wanted), capture_output=True, text=True, check=True)
    answers: list[list[list[str]]] = json.loads(told.stdout)
    return answers


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_bash_runs_what_was_read(read: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readings = {line: read(line) for line in lines(LINES, SEED)}
    plain = {line: reading for line, reading in readings.items() if reading.plain}
    plain = {
        line: reading
        for line, reading in plain.items()
        if not any("/" in (part.words or ("",))[0] for part in reading.parts)
    }
    answers = run_recorded(tmp_path, list(plain))
    differing = []
    for (line, reading), ran in zip(plain.items(), answers, strict=True):
        wanted, got = Counter(expected(line, reading)), Counter(map(tuple, ran))
        missing_input = "<" in line and got < wanted
        if got != wanted and not missing_input:
            differing.append((line, wanted, got))
    with capsys.disabled():
        print(f"\n  {len(readings)} lines, {len(plain)} plain, {len(differing)} read otherwise than bash ran them")
    assert len(plain) > LINES // 50
    assert not differing, "\n".join(map(str, differing[:20]))
