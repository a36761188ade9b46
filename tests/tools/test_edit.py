"""Edit and write: laws that hold for every file, and what happens when the world interferes."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codeagent.core.effects import Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.views import Diff
from codeagent.host.files import digest
from codeagent.tools.edit import EditInput
from codeagent.tools.encodings import decode
from codeagent.tools.patching import Change, Missed, patch
from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "project", tmp_path / "home")


def known(desk: Desk, name: str, data: bytes | str) -> Path:
    path = desk.put(name, data)
    desk.workspace.seen.note(Saw(str(path), digest(path.read_bytes())))
    return path


ENDS = st.sampled_from(["\n", "\r\n"])
WORDS = st.text(st.sampled_from("ab \tx.é日\u2019\u00a0"), max_size=8)
LINES = st.lists(st.tuples(WORDS, ENDS), min_size=1, max_size=8)
CODECS = ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp932", "gbk"]


@settings(max_examples=150, deadline=None)
@given(before=LINES, after=LINES, new=WORDS, codec=st.sampled_from(CODECS), last=st.booleans())
def test_bytes_outside_the_change_are_never_altered(
    before: list[tuple[str, str]], after: list[tuple[str, str]], new: str, codec: str, last: bool
) -> None:
    def encoded(text: str) -> bytes:
        return text.encode(codec, "ignore")

    head = "".join(word + end for word, end in before)
    tail = "".join(word + end for word, end in after)
    data = encoded(head + "THE TARGET\r\n" + (tail if last else tail.rstrip("\r\n")))
    decoded = decode(data)
    if decoded is None:
        return
    assert decoded.encode(decoded.text) == data
    done = patch(decoded.text, [Change("THE TARGET", "REPLACED" + "".join(c for c in new if c.isascii()))])
    out = decoded.encode(done.text)
    start = data.index("THE TARGET".encode(codec.replace("-sig", "") if codec != "utf-16" else "utf-16-le"))
    length = len("THE TARGET".encode("utf-16-le" if codec == "utf-16" else "ascii"))
    assert out[:start] == data[:start]
    assert out.endswith(data[start + length :])


@settings(max_examples=150, deadline=None)
@given(lines=LINES, first=st.integers(0, 7), count=st.integers(1, 3), new=LINES, loose=st.booleans())
def test_lines_beside_a_loose_hit_are_never_altered(
    lines: list[tuple[str, str]], first: int, count: int, new: list[tuple[str, str]], loose: bool
) -> None:
    text = "".join(word + end for word, end in lines)
    first = min(first, len(lines) - 1)
    old = "".join(word + "\n" for word, _ in lines[first : first + count])
    if loose:
        old = old.replace("\u00a0", " ").replace("\u2019", "'")
        assume(old not in text.replace("\r\n", "\n"))
    try:
        done = patch(text, [Change(old, "".join(word + "\n" for word, _ in new))])
    except Missed:
        return
    assert done.text.startswith("".join(word + end for word, end in lines[:first]))
    assert done.text.endswith("".join(word + end for word, end in lines[first + count :]))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60) | LINES.map(lambda ls: "".join(map("".join, ls)).encode()), old=WORDS)
async def test_a_failed_edit_leaves_the_file_byte_for_byte(data: bytes, old: str, desk: Desk) -> None:
    path = known(desk, "f.txt", data)
    outcome = await desk.call("edit", file_path="f.txt", old_string=old, new_string="something else")
    if outcome.error:
        assert path.read_bytes() == data
    else:
        assert outcome.result is not None
        assert digest(path.read_bytes()) == outcome.result.after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(st.sampled_from("ab\r\x0b\x0c\u2028\u0085é "), max_size=5), max_size=6))
async def test_read_edit_and_grep_number_lines_alike(words: list[str], desk: Desk) -> None:
    desk.put("f.txt", "".join(word + "\n" for word in words) + "NEEDLE\n")
    number = len(words) + 1
    read = await desk.call("read", file_path="f.txt", offset=number, limit=1)
    found = await desk.call("grep", pattern="NEEDLE", path="f.txt", output_mode="content")
    edited = await desk.call("edit", file_path="f.txt", old_string="NEEDLE", new_string="found")
    assert read.text.startswith(f"{number}\tNEEDLE")
    assert f"\n{number}:NEEDLE" in found.text
    assert edited.effect is not None
    assert isinstance(edited.effect.view, Diff)
    (hunk,) = edited.effect.view.hunks
    removed = [line.startswith("-NEEDLE") for line in hunk.lines].index(True)
    assert hunk.old_start + removed == number


async def test_the_effect_shows_what_run_writes(desk: Desk) -> None:
    path = known(desk, "shop/cart.py", "a\nb\nc\nd\n")
    args = EditInput(file_path="shop/cart.py", old_string="c", new_string="C")
    effect = await desk.tools["edit"].plan(args)
    assert (effect.title, effect.risk, effect.label) == ("Edit shop/cart.py", Risk.MEDIUM, "shop/cart.py")
    assert effect.before == digest(b"a\nb\nc\nd\n")
    assert effect.after == digest(b"a\nb\nC\nd\n")
    assert isinstance(effect.view, Diff)
    assert effect.view.hunks[0].lines == (" a", " b", "-c", "+C", " d")
    steps = [step async for step in desk.tools["edit"].run(args, Permit(effect))]
    assert steps[-1].view == effect.view
    assert digest(path.read_bytes()) == effect.after


async def test_a_change_between_plan_and_run_is_refused(desk: Desk) -> None:
    path = known(desk, "f.txt", "a\nb\n")
    args = EditInput(file_path="f.txt", old_string="b", new_string="B")
    effect = await desk.tools["edit"].plan(args)
    path.write_text("a\nb\nby someone else\n")
    with pytest.raises(ToolFault, match="Read it again") as caught:
        _ = [step async for step in desk.tools["edit"].run(args, Permit(effect))]
    assert caught.value.kind == "stale"
    assert path.read_text() == "a\nb\nby someone else\n"


async def test_a_link_swapped_between_plan_and_run_is_refused(desk: Desk) -> None:
    known(desk, "one.txt", "a\n")
    other = known(desk, "two.txt", "a\n")
    (desk.root / "link").symlink_to("one.txt")
    args = EditInput(file_path="link", old_string="a", new_string="b")
    effect = await desk.tools["edit"].plan(args)
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("two.txt")
    with pytest.raises(ToolFault, match="another place"):
        _ = [step async for step in desk.tools["edit"].run(args, Permit(effect))]
    assert other.read_text() == "a\n"


async def test_other_input_than_permitted_is_refused(desk: Desk) -> None:
    path = known(desk, "f.txt", "a\nb\n")
    effect = await desk.tools["edit"].plan(EditInput(file_path="f.txt", old_string="b", new_string="B"))
    other = EditInput(file_path="f.txt", old_string="a", new_string="A")
    with pytest.raises(ToolFault, match="not the one that was permitted"):
        _ = [step async for step in desk.tools["edit"].run(other, Permit(effect))]
    assert path.read_text() == "a\nb\n"


async def test_what_grep_showed_may_be_edited(desk: Desk) -> None:
    desk.put("f.txt", "a\nneedle\n")
    blind = await desk.call("edit", file_path="f.txt", old_string="needle", new_string="x")
    assert blind.error == "not_read"
    await desk.call("grep", pattern="needle", output_mode="content")
    seen = await desk.call("edit", file_path="f.txt", old_string="needle", new_string="x")
    assert (seen.error, (desk.root / "f.txt").read_text()) == ("", "a\nx\n")


async def test_write_makes_folders_and_shows_all_lines_as_added(desk: Desk) -> None:
    outcome = await desk.call("write", file_path="new/deep/f.txt", content="one\ntwo")
    assert (desk.root / "new/deep/f.txt").read_bytes() == b"one\ntwo"
    assert outcome.effect is not None
    assert outcome.effect.title == "Create new/deep/f.txt"
    assert outcome.result is not None
    assert outcome.result.summary == "+2 -0"
    assert isinstance(outcome.result.view, Diff)
    assert outcome.result.view.created


async def test_outside_the_project_is_high_risk(desk: Desk) -> None:
    effect = await desk.tools["write"].plan(desk.tools["write"].Input(file_path="../out.txt", content="x"))
    assert (effect.risk, effect.touches[0].place) == (Risk.HIGH, "outside")


async def test_many_edits_at_once_all_land(desk: Desk) -> None:
    path = known(desk, "f.txt", "".join(f"line {n} end\n" for n in range(10)))
    calls = [desk.call("edit", file_path="f.txt", old_string=f"line {n} end", new_string=f"{n}") for n in range(10)]
    outcomes = await asyncio.gather(*calls)
    assert [each.error for each in outcomes] == [""] * 10
    assert path.read_text() == "".join(f"{n}\n" for n in range(10))


async def test_cancel_leaves_the_file_old_or_new(desk: Desk) -> None:
    for _ in range(5):
        path = known(desk, "f.txt", "a\n" * 100_000)
        task = asyncio.create_task(
            desk.call("edit", file_path="f.txt", old_string="a\n" * 3, new_string="b\n" * 3, replace_all=True)
        )
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert set(path.read_text()) <= {"a", "b", "\n"}
        assert len(path.read_bytes()) == 200_000


WRITER = """
import sys
from codeagent.host.files import digest
from codeagent.host.storing import store
path, old = sys.argv[1], open(sys.argv[1], "rb").read()
print("ready", flush=True)
while True:
    new = (b"new" if old.startswith(b"old") else b"old") * 700_000
    store(path, new, digest(old))
    old = new
"""


def test_a_killed_writer_leaves_the_file_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(b"old" * 700_000)
    for _ in range(6):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                assert path.stat().st_size == 2_100_000
            writer.send_signal(signal.SIGKILL)
        assert path.read_bytes() in (b"old" * 700_000, b"new" * 700_000)
    again = "import sys; from codeagent.host.storing import store; store(sys.argv[1], b'x', sys.argv[2])"
    subprocess.run([sys.executable, "-c", again, str(path), digest(path.read_bytes())], check=True)
    assert os.listdir(tmp_path) == ["f.txt"]


FULL = """
import resource, signal, sys
from codeagent.core.errors import ToolFault
from codeagent.host.files import digest
from codeagent.host.storing import store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    store(sys.argv[1], b"b" * 5000, digest(b"a" * 500))
except ToolFault as fault:
    print(fault.kind)
"""


@pytest.mark.parametrize("links", [1, 2])
def test_a_full_disk_leaves_the_old_content_whole(tmp_path: Path, links: int) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(b"a" * 500)
    if links == 2:
        os.link(path, tmp_path / "other.txt")
    assert resource.getrlimit(resource.RLIMIT_FSIZE)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "io"
    assert path.read_bytes() == b"a" * 500
    assert sorted(os.listdir(tmp_path)) == ["f.txt", "other.txt"][:links]


BYTES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"", b"text\n", b"\x89PNG\r\n\x1a\nrest", b"GIF89a", b"%PDF-1.7\n", b"a\0b", b"\xff\xfeh\0i\0"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=BYTES, edits=st.booleans())
async def test_no_refusal_is_a_dead_end(desk: Desk, data: bytes, edits: bool) -> None:
    """What the words of a refusal advise leads on: read and write again, or remove and write."""
    name = f"file-{len(list(desk.root.iterdir()))}"
    path = desk.put(name, data)
    given = {"old_string": "", "new_string": "new"} if edits else {"content": "new"}
    first = await desk.call("edit" if edits else "write", file_path=name, **given)
    if first.error == "not_read":
        read = await desk.call("read", file_path=name)
        assert read.result
        assert read.result.saw
    else:
        first.says([["bash"]])
        assert first.error == "binary"
        assert path.read_bytes() == data
        path.unlink()
    again = await desk.call("write", file_path=name, content="new")
    assert again.result, again.text
    assert decode(path.read_bytes()).text == "new"


async def test_a_file_that_became_binary_is_called_so(desk: Desk) -> None:
    path = known(desk, "a.bin", "text\n")
    path.write_bytes(b"\0\1\2")
    assert (await desk.call("write", file_path="a.bin", content="x")).error == "binary"
    desk.workspace.seen.note(Saw(str(path), digest(path.read_bytes()), wrote=True))
    assert (await desk.call("write", file_path="a.bin", content="x")).result
