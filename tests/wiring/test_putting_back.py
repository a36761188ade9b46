"""What comes back after a compaction, and what does not: real files, real guidelines."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codeagent.core.errors import ToolFault
from codeagent.core.events import Noted, Opened, Saw, ToolFinished
from codeagent.core.messages import Text
from codeagent.core.seen import Seen
from codeagent.memory.instructions import Guideline
from codeagent.memory.prompt import GUIDELINES
from codeagent.wiring.putting_back import PutBack

INDEX = "- [a](a.md) - b"
OPENED = Opened("s", "/p", ("product", f"{GUIDELINES}\n\n## /p/CLAUDE.md\n\nUse tabs.\n\n{INDEX}"), (), "m", 1000)
TOLD = Noted(
    "Guidelines: CLAUDE.md", to="person", topic="guidelines", digest='{"/p/CLAUDE.md": "1", "/p/GONE.md": "2"}'
)
ROOM = 100_000


def read(path: Path, *, whole: bool = True, wrote: bool = False) -> ToolFinished:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return ToolFinished("t", "read", (Text("x"),), saw=(Saw(str(path), digest, whole=whole, wrote=wrote),))


def back(seen: Seen, text: str = "Use tabs.", index: str = INDEX) -> PutBack:
    return PutBack(seen, lambda: (Guideline("/p/CLAUDE.md", text, "1"),), lambda: index)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"{n}.py" for n in range(7)]
    for number, path in enumerate(made):
        path.write_text(f"file {number}\n" + "a line of code\n" * 1000)
    return made


def test_the_latest_files_come_back_within_their_room(files: list[Path]) -> None:
    seen = Seen([read(path) for path in files])
    notes = [n for n in back(seen)([OPENED], [], 50_000) if "worked with lately" in n]
    assert [next(p.name for p in files if str(p) in note) for note in notes] == ["6.py", "5.py", "4.py", "3.py", "2.py"]
    assert all(len(note) <= 10_000 and "cut here" in note for note in notes)
    assert sum(map(len, notes)) <= 50_000


def test_a_long_file_comes_back_from_where_it_was_looked_at(tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_text("".join(f"line {n} of many\n" for n in range(1, 5001)))
    digest = hashlib.sha256(long.read_bytes()).hexdigest()
    seen = ToolFinished("t", "read", (Text("x"),), saw=(Saw(str(long), digest, 3000, 3080, whole=False),))
    (note,) = back(Seen([seen]))([OPENED], [], ROOM)
    assert "lately, from line 3000:\n\nline 3000 of many\n" in note
    assert back(Seen([seen]))([OPENED], [seen], ROOM) == ()  # the tail shows just that


def test_what_the_kept_tail_shows_whole_does_not(files: list[Path]) -> None:
    one, two, three = files[:3]
    entries = [read(one), read(two), read(three)]
    tail = [entries[1], read(three, whole=False), read(one, wrote=True)]
    notes = "".join(back(Seen(entries))([OPENED], tail, ROOM))
    assert (str(one) in notes, str(two) in notes, str(three) in notes) == (True, False, True)


def test_a_file_that_changed_meanwhile_says_so_and_others_are_passed_by(files: list[Path], tmp_path: Path) -> None:
    binary, link = tmp_path / "x.bin", tmp_path / "link"
    binary.write_bytes(b"\xff\xfe\x00")
    link.symlink_to(files[0])
    seen = Seen([read(files[0]), read(files[1]), read(binary), read(link)])
    files[0].write_text("changed\n")
    files[1].unlink()
    (note,) = [n for n in back(seen)([OPENED], [], ROOM) if "worked with lately" in n]
    assert "it changed since you saw it" in note
    assert note.endswith("changed\n")


def test_guidelines_and_index_come_back_when_the_prompt_does_not_hold_them() -> None:
    assert back(Seen())([OPENED], [], ROOM) == ()
    notes = back(Seen(), "Use blanks.", "- [new](n.md) - c")([OPENED, TOLD], [], ROOM)
    assert [note.partition("\n")[0] for note in notes] == [
        "The guideline file /p/CLAUDE.md changed since the session began; in force is:",
        "The guideline file /p/GONE.md is gone; it is no longer in force.",
        "The memory index changed since the session began; it is now:",
    ]


def test_a_memory_that_cannot_be_read_keeps_nothing_from_being_summed_up() -> None:
    def broken() -> str:
        raise ToolFault("MEMORY.md is no UTF-8 text")

    assert PutBack(Seen(), tuple, broken)([OPENED], [], ROOM) == ()
