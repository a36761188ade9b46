"""Topics and their index: saved whole, kept apart from what people wrote, never lost between processes."""

import os
import stat
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codeagent.core.errors import ToolFault
from codeagent.core.notebook import Topic
from codeagent.memory import index, seal, topic_file
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics

KEY = b"k" * 32
DAY = 1_764_444_444.0


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path)


def notebook(layout, key=KEY, now=DAY):
    return Topics(layout, key, "s1", lambda: now, lambda words: [])


def save(notes, name="Build steps", description="how to build", text="Run make."):
    return notes.carry_out(notes.planned_save(Topic(name, description, text)))


def test_a_topic_has_its_origin_and_a_line_in_the_index(layout):
    save(notebook(layout))
    path = layout.memory / "build-steps.md"
    lines = path.read_text().splitlines()
    assert lines[:7] == [
        "---",
        "name: Build steps",
        "description: how to build",
        "type: project",
        "created: 2025-11-29",
        "updated: 2025-11-29",
        "session: s1",
    ]
    assert lines[-1] == "Run make."
    assert layout.index.read_text() == "# Memory\n\n- [Build steps](build-steps.md) - how to build\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "sessions/" in (layout.agent / ".gitignore").read_text()
    assert "Run make." in notebook(layout).read("build STEPS")
    assert notebook(layout).foreign() == ()


def test_saving_again_updates_the_topic_and_its_line(layout):
    save(notebook(layout))
    save(notebook(layout), name="Other", description="else")
    save(notebook(layout, now=DAY + 86400 * 2), description="how to build it", text="Run ninja.")
    text = (layout.memory / "build-steps.md").read_text()
    assert "created: 2025-11-29\nupdated: 2025-12-01" in text
    assert "Run make" not in text
    assert notebook(layout).index().splitlines()[2:] == [
        "- [Build steps](build-steps.md) - how to build it",
        "- [Other](other.md) - else",
    ]


def test_deleting_takes_file_and_line(layout):
    notes = notebook(layout)
    save(notes)
    save(notes, name="Other")
    notes.carry_out(notes.planned_deletion("build-steps.md"))
    assert sorted(each.name for each in layout.memory.glob("*.md")) == ["MEMORY.md", "other.md"]
    assert "build" not in layout.index.read_text().replace("how to build", "")
    with pytest.raises(ToolFault, match=r"no memory topic 'othr'.*Near it: other"):
        notes.planned_deletion("othr")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("make", "rm"),
        lambda text: text.replace("description: how", "description: why"),
        lambda text: "just words\n",
        lambda text: "",
        lambda text: text + "<<<<<<< HEAD\n",
    ],
)
def test_what_was_edited_by_hand_is_reported_and_kept(layout, spoil):
    notes = notebook(layout)
    save(notes)
    path = layout.memory / "build-steps.md"
    spoilt = spoil(path.read_text())
    path.write_text(spoilt)
    assert "by hand" in notes.read("Build steps")
    for attempt in (lambda: save(notes), lambda: notes.planned_deletion("Build steps")):
        with pytest.raises(ToolFault, match="not overwritten or deleted"):
            attempt()
    assert path.read_text() == spoilt
    assert notes.foreign() == ("- [Build steps](build-steps.md) - how to build",)


def test_memory_that_another_wrote_is_known(layout):
    save(notebook(layout, key=b"x" * 32))
    assert len(notebook(layout).foreign()) == 1
    save(notebook(layout), name="Mine")
    assert len(notebook(layout).foreign()) == 1
    layout.index.write_text(layout.index.read_text().replace("[Mine](mine.md) - how", "[Mine](mine.md) - obey"))
    assert len(notebook(layout).foreign()) == 2


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"a\0b", b"x" * (64 * 1024 + 1)], ids=["no UTF-8", "NUL", "huge"])
def test_a_broken_index_is_named_and_kept(layout, bad):
    layout.memory.mkdir(parents=True)
    layout.index.write_bytes(bad)
    notes = notebook(layout)
    with pytest.raises(ToolFault, match=r"MEMORY\.md .*left as it is"):
        save(notes)
    assert layout.index.read_bytes() == bad
    assert not (layout.memory / "build-steps.md").exists()


def test_what_is_no_file_is_named(layout):
    (layout.memory / "build-steps.md").mkdir(parents=True)
    with pytest.raises(ToolFault, match="no ordinary file"):
        save(notebook(layout))
    os.mkfifo(layout.memory / "pipe.md")
    assert notebook(layout).search("x") == []


def test_lines_of_the_users_own_stay(layout):
    layout.memory.mkdir(parents=True)
    own = "# My notes\n\nprefer tabs\n- [broken](x)\n- [A](a.md) - one\n- [A](a.md) - two"
    layout.index.write_text(own)
    notes = notebook(layout)
    save(notes)
    assert layout.index.read_text() == own + "\n- [Build steps](build-steps.md) - how to build\n"
    told = notes.index()
    assert "MEMORY.md:4 is no index line" in told
    assert "MEMORY.md:6 names a.md a second time" in told


def test_links_are_not_followed(layout, tmp_path):
    layout.memory.mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("PRIVATE")
    (layout.memory / "x.md").symlink_to(secret)
    with pytest.raises(ToolFault, match="cannot be read"):
        notebook(layout).read("x")
    assert notebook(layout).search("private") == []
    other = Layout(tmp_path / "other")
    other.agent.mkdir(parents=True)
    other.memory.symlink_to(layout.memory)
    with pytest.raises(ToolFault, match="is a link"):
        save(notebook(other))


def test_a_topic_that_changed_after_it_was_shown_is_not_written(layout):
    notes = notebook(layout)
    change = notes.planned_save(Topic("Build steps", "d", "first"))
    save(notes, text="second")
    with pytest.raises(ToolFault, match="changed meanwhile"):
        notes.carry_out(change)
    assert "second" in notes.read("Build steps")


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        (Topic("", "d", "t"), "a few words"),
        (Topic("a]b", "d", "t"), "without brackets"),
        (Topic("a", " ", "t"), "description is missing"),
        (Topic("a", "d", "\n"), "text is missing"),
        (Topic("a", "d" * 150, "t"), "fewer than 150"),
        (Topic("a", "d", "t" * 40_000), "longer than 32 KiB"),
    ],
)
def test_what_cannot_be_kept_is_told(layout, topic, words):
    with pytest.raises(ToolFault, match=words):
        notebook(layout).planned_save(topic)
    assert not layout.agent.exists()


def test_going_over_the_limit_is_told_and_saved(layout):
    layout.memory.mkdir(parents=True)
    layout.index.write_text("".join(f"- [t{n}](t{n}.md) - d\n" for n in range(200)))
    notice = save(notebook(layout))
    assert "201 lines" in notice
    shown = notebook(layout).index()
    assert "build-steps" not in shown
    assert "1 lines of the index are not shown" in shown
    layout.index.write_text("é" * 30_000)
    assert len(notebook(layout).index().encode()) < 26_000


def test_a_directory_that_cannot_be_written_is_told(layout):
    layout.agent.parent.mkdir(exist_ok=True)
    layout.agent.write_text("a file where the directory should be")
    with pytest.raises(ToolFault, match="cannot be written"):
        save(notebook(layout))


def test_search_finds_lines(layout):
    save(notebook(layout), text="Größe\nRun MAKE twice.")
    assert notebook(layout).search("make") == ["build-steps.md:12: Run MAKE twice."]
    assert notebook(layout).search(" ") == []


SAVE = """
import sys
from pathlib import Path
from codeagent.core.notebook import Topic
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics
notes = Topics(Layout(Path(sys.argv[1])), b"k" * 32, "s", lambda: 0.0, lambda words: [])
for n in range(8):
    notes.carry_out(notes.planned_save(Topic(f"topic {sys.argv[2]} {n}", "d", "text")))
"""


def test_saves_from_many_processes_lose_no_line(layout):
    children = [subprocess.Popen([sys.executable, "-c", SAVE, str(layout.project), str(n)]) for n in range(4)]
    assert [child.wait() for child in children] == [0] * 4
    assert len(index.read(layout.index.read_text()).topics) == 32
    assert notebook(layout).foreign() == ()
    assert [each for each in os.listdir(layout.memory) if each.endswith(".tmp")] == []


words = st.text(min_size=1, max_size=30)


@settings(max_examples=200, deadline=None)
@given(name=words, description=words, text=words)
@example(name=".md", description="d", text="t")
def test_whatever_is_written_reads_as_ours(name, description, text):
    file = topic_file.file_name(name)
    whole = topic_file.write(Topic(name, description, text), KEY, file, "2026-01-01", "2026-01-01", "s")
    known = topic_file.read(whole.encode().decode(), KEY, file)
    assert known is not None
    assert known.sealed
    assert known.fields["name"] == " ".join(name.split())
    assert known.text.strip("\n") == text.strip("\n")
    assert file == topic_file.file_name(file)
    assert "/" not in file
    assert len(file) < 80


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("日本語 notes", "한국어 notes"),
        ("プロジェクトの設定その1", "プロジェクトの設定その2"),
        ("x" * 70 + "1", "x" * 70 + "2"),
        ("Straße", "Strae"),
        ("!?", "?!"),
    ],
)
def test_names_that_differ_in_letters_have_files_of_their_own(one, other):
    assert topic_file.file_name(one) != topic_file.file_name(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Build Steps", "build-steps"), ("Café!", "cafe"), ("日本語", "日本語."), ("ÉTÉ", "été.md")]
)
def test_names_that_differ_in_form_alone_share_a_file(one, other):
    assert topic_file.file_name(one) == topic_file.file_name(other)


def test_the_key_is_made_once_and_private(tmp_path):
    first = seal.key(tmp_path)
    assert len(first) == 32
    assert seal.key(tmp_path) == first
    path = tmp_path / "codeagent" / "seal.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["seal.key"]
    path.write_bytes(b"short")
    with pytest.raises(OSError, match="is no key"):
        seal.key(tmp_path)
