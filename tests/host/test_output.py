"""What is kept of a command's output."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.host.output import EDGE, FILE_CAP, Output, plain


def fed(tmp_path: Path, *pieces: bytes, always_file: bool = False) -> Output:
    output = Output(tmp_path / "spill" / "out.txt", always_file=always_file)
    for piece in pieces:
        output.feed(piece)
    output.close()
    return output


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never closed\nnext", "never closed\nnext"),
        ("\x1b(Bplain\x1b=", "plain"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\r 1%\r50%\r100%\n", "100%\n"),
        ("50%\r100%\r", "100%"),
        ("B\x08Bo\x08ol\x08ld", "Bold"),
        ("bell\x07 nul\x00 tab\t", "bell nul tab\t"),
        ("\x9b31mC1", "31mC1"),
    ],
)
def test_text_as_it_looks_when_done(raw: str, seen: str) -> None:
    assert plain(raw) == seen


@given(st.text(alphabet=st.sampled_from("ab\x1b[]0;m\r\n\x08\x07\\P\x00\x9b")))
def test_no_control_character_survives(raw: str) -> None:
    assert not set(plain(raw)) & {*map(chr, range(9)), *map(chr, range(11, 32)), *map(chr, range(127, 160))}


def test_long_lines_without_line_ends_are_read_in_time() -> None:
    plain("\r".join(["x" * 10]) + "y" * 500_000 + "\x1b]" * 50_000 + "\r" * 50_000)


@given(st.lists(st.binary(max_size=40), max_size=30))
def test_pieces_do_not_matter(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert fed(folder, *pieces).shown(10_000) == fed(folder, b"".join(pieces)).shown(10_000)


def test_short_output_is_whole_and_makes_no_file(tmp_path: Path) -> None:
    output = fed(tmp_path, b"caf\xe9\n", "é".encode() * 100)
    assert output.shown(10_000).text == "caf�\n" + "é" * 100
    assert not output.file.exists()


@pytest.mark.parametrize("lines", [2_000, 200_000])
def test_long_output_keeps_head_and_tail_and_the_whole_in_a_private_file(tmp_path: Path, lines: int) -> None:
    raw = b"".join(b"line %d\n" % n for n in range(lines))
    shown = (output := fed(tmp_path, *(raw[at : at + 5000] for at in range(0, len(raw), 5000)))).shown(10_000)
    head, _, rest = shown.text.partition("\n[... ")
    note, _, tail = rest.partition("]\n")
    assert head.splitlines()[0] == "line 0"
    assert tail.splitlines()[-1] == f"line {lines - 1}"
    assert all(line.startswith("line ") for line in (head + "\n" + tail).splitlines())
    assert shown.omitted == len(raw) - len(head) - 1 - len(tail)
    assert f"{shown.omitted:,} bytes omitted" in note
    assert str(output.file) in note
    assert len(head) + len(tail) <= 10_000
    assert output.file.read_bytes() == raw
    assert output.file.stat().st_mode & 0o777 == 0o600
    assert output.file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_cut_in_half(tmp_path: Path, shift: int) -> None:
    shown = fed(tmp_path, b"x" * shift, "日🚀".encode() * 60_000).shown(10_001 + shift)
    assert "�" not in shown.text


def test_the_file_has_a_cap(tmp_path: Path) -> None:
    output = Output(tmp_path / "out.txt")
    block = b"z" * (1 << 20)
    for _ in range(FILE_CAP // len(block) + 3):
        output.feed(block)
    output.close()
    assert output.file.stat().st_size == FILE_CAP
    assert "the first 64 MB of it" in output.shown(1000).text


def test_without_a_place_for_the_file_the_rest_still_works(tmp_path: Path) -> None:
    (tmp_path / "spill").write_text("a file is in the way")
    output = fed(tmp_path, b"a" * (3 * EDGE), b"end")
    shown = output.shown(1000)
    assert shown.text.endswith("end")
    assert "could not be kept" in shown.text
    assert shown.file is None


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "out.txt").symlink_to(tmp_path / "victim")
    assert "could not be kept" in fed(tmp_path, b"a" * 20_000).shown(1000).text
    assert not (tmp_path / "victim").exists()


def test_fresh_gives_each_piece_once_and_of_a_flood_the_last(tmp_path: Path) -> None:
    output = Output(tmp_path / "out.txt", always_file=True)
    output.feed(b"one")
    assert output.fresh() == "one"
    assert output.fresh() == ""
    output.feed(b"x" * 100_000 + b"last")
    fresh = output.fresh()
    assert fresh.endswith("last")
    assert len(fresh) == 8192
    assert output.skipped == 100_004 - 8192
    output.close()
    assert output.file.stat().st_size == 100_007


@settings(max_examples=40)
@given(st.text(), st.lists(st.integers(1, 8), max_size=50))
def test_a_character_that_comes_in_two_pieces_is_shown_whole(
    tmp_path_factory: pytest.TempPathFactory, words: str, sizes: list[int]
) -> None:
    output = Output(tmp_path_factory.getbasetemp() / "none")
    words = "".join(char for char in words if char == plain(char))
    raw, shown = words.encode(), ""
    for size in [*sizes, len(raw)]:
        output.feed(raw[:size])
        shown, raw = shown + output.fresh(), raw[size:]
    assert shown == words
