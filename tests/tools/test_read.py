"""Read: what is shown once, what is bounded, which pictures and PDFs may enter a request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codeagent.core.errors import ToolFault
from codeagent.tools import media, notebook, pictures
from codeagent.tools.encodings import decode
from codeagent.tools.read import CHARACTERS
from tests.tools.desk import Desk
from tests.tools.samples import GIF, JPEG, WEBP, png


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "project", tmp_path / "home")


async def test_the_same_lines_are_sent_once(desk: Desk) -> None:
    path = desk.put("f.txt", "one\ntwo\n")
    first = await desk.call("read", file_path="f.txt")
    assert first.text == "1\tone\n2\ttwo"
    assert first.result is not None
    (saw,) = first.result.saw
    assert (saw.path, saw.first, saw.last, saw.whole) == (str(path), 1, 2, True)
    assert (await desk.call("read", file_path="f.txt")).text.startswith("Unchanged")
    await desk.call("edit", file_path="f.txt", old_string="one", new_string="1")
    assert (await desk.call("read", file_path="f.txt")).text == "1\t1\n2\ttwo"


async def test_grep_is_no_reading_of_lines(desk: Desk) -> None:
    desk.put("f.txt", "one\ntwo\n")
    await desk.call("grep", pattern="one", output_mode="content")
    assert (await desk.call("read", file_path="f.txt", limit=1)).text.startswith("1\tone")


async def test_a_big_file_is_cut_with_the_way_to_go_on(desk: Desk) -> None:
    desk.put("f.txt", "".join(f"{n} " + "x" * 90 + "\n" for n in range(1, 3001)))
    outcome = await desk.call("read", file_path="f.txt")
    assert len(outcome.text) < CHARACTERS + 200
    last = outcome.text.split("\n\n[")[0].rsplit("\n", 1)[1].split("\t")[0]
    assert f"go on with offset {int(last) + 1}" in outcome.text
    assert outcome.result is not None
    assert not outcome.result.saw[0].whole


async def test_plan_does_not_look_into_the_file(desk: Desk) -> None:
    effect = await desk.tools["read"].plan(desk.tools["read"].Input(file_path="../nothing"))
    assert (effect.title, effect.touches[0].place) == ("Read ../nothing", "outside")


async def test_hostile_names_are_shown_escaped(desk: Desk) -> None:
    os.close(os.open(os.fsencode(desk.root) + b"/esc\x1b[31m\n\xff.txt", os.O_CREAT))
    outcome = await desk.call("glob", pattern="*")
    assert outcome.text == "esc\\x1b[31m\\n\\xff.txt"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(3, 4), (3, 4)),
        (JPEG, (40, 30)),
        (WEBP, (10, 5)),
        (GIF, (1, 1)),
    ],
)
def test_dimensions(data: bytes, size: tuple[int, int]) -> None:
    assert pictures.size(data, media.media_type(data)) == size


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(9000, 10), "too_large"),
        (png(10, 10)[:40], "binary"),
        (png(10, 10) + bytes(media.PICTURE_BYTES), "too_large"),
        (JPEG[:10], "binary"),
        (b"%PDF-1.4\ncut", "binary"),
        (b"%PDF-1.4\n/Type/Pages/Count 500\n%%EOF", "too_large"),
        (b"%PDF-1.4\ntrailer<</Encrypt 5 0 R>>\n%%EOF", "binary"),
    ],
)
def test_what_would_break_every_later_request_is_refused(data: bytes, kind: str) -> None:
    with pytest.raises(ToolFault) as caught:
        media.block(data, media.media_type(data), "file")
    assert caught.value.kind == kind


def test_what_looks_like_a_notebook_but_is_none() -> None:
    assert notebook.as_text("{}") is None
    assert notebook.as_text("[" * 100_000) is None
    assert notebook.as_text('{"cells": [1, {"source": 5, "outputs": [null]}]}') == "[cell 2: unknown]\n5"


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        ("café\n", "latin-1", "Latin-1"),
        ("“quoted” – café\n", "cp1252", "Windows-1252"),
        ("設定ファイルの名前を変更する\n", "cp932", "Shift-JIS"),
        ("設定ファイルの名前を変更する\n", "euc_jp", "EUC-JP"),
        ("服务器的监听端口,中文注释\n", "gbk", "GBK"),
        ("한국어 주석입니다 그리고 설명\n", "euc_kr", "EUC-KR"),
        ("naïve\n", "utf-16", "UTF-16 LE"),
        ("naïve\n", "utf-8", ""),
        ("naïve\n", "utf-8-sig", "UTF-8 with BOM"),
    ],
)
def test_encodings_are_found_and_kept(text: str, codec: str, label: str) -> None:
    data = text.encode(codec)
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.text, decoded.label, decoded.encode(text)) == (text, label, data)


def test_binary_is_no_text() -> None:
    assert decode(b"a\0b") is None
    assert decode(b"\xff\xfe\0\0a\0\0\0") is None
