"""What a file that looks like a picture, a PDF or a notebook may do to a session: nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.errors import ToolFault
from codeagent.core.messages import Document, Image, Message, Request, Text, ToolResult, ToolSchema, ToolUse
from codeagent.models.anthropic_wire import body
from codeagent.models.check import problems
from codeagent.models.features import wanted
from codeagent.tools import media, pictures
from codeagent.tools.notebook import as_text
from tests.tools.desk import Desk
from tests.tools.samples import PDF, SOUND, png


def shown(data: bytes) -> Image | Document | None:
    """The block for these bytes, None when they are refused; nothing else ever happens."""
    kind = media.media_type(data)
    if not kind:
        return None
    try:
        return media.block(data, kind, "file")
    except ToolFault:
        return None


@pytest.mark.parametrize("name", SOUND)
def test_sound_files_are_shown(name: str) -> None:
    assert shown(SOUND[name])


@pytest.mark.parametrize("name", SOUND)
def test_no_cut_file_is_shown(name: str) -> None:
    data = SOUND[name].rstrip(b"\0\n") if name == "pdf" else SOUND[name]
    least = 1 if name.startswith("webp") else 0  # a last odd byte is padding
    for length in range(len(data) - least):
        assert shown(data[:length]) is None, length


@pytest.mark.parametrize("name", [name for name in SOUND if name.startswith("png")])
def test_no_changed_byte_of_a_png_is_shown(name: str) -> None:
    data = SOUND[name]
    for at in range(8, len(data)):
        assert shown(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]) is None, at


@given(st.sampled_from(sorted(SOUND)), st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=4)), max_size=4))
def test_garbled_files_are_shown_or_refused_and_make_a_valid_request(
    name: str, changes: list[tuple[int, bytes]]
) -> None:
    data = SOUND[name]
    for at, new in changes:
        data = data[:at] + new + data[at + len(new) :]
    made = shown(data)
    if isinstance(made, Image):
        width, height = pictures.size(data, made.media_type)
        assert 0 < width <= media.PICTURE_SIDE
        assert 0 < height <= media.PICTURE_SIDE
    if made:
        assert problems(asking(made)) == []


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF....WEBP", b"%PDF-"]),
    st.binary(max_size=200),
)
def test_noise_behind_a_right_beginning_never_crashes(magic: bytes, noise: bytes) -> None:
    shown(magic + noise)


def test_a_png_that_unpacks_to_less_than_it_promises_is_refused() -> None:
    assert shown(png(100, 100, rows=bytes(50))) is None
    assert shown(png(9000, 1)) is None


def test_an_outline_is_no_count_of_pages() -> None:
    assert media.pdf_pages(PDF) == 1
    assert media.pdf_pages(PDF.replace(b"/Count 1>", b"/Count 101>")) == 101
    assert shown(PDF.replace(b"/Count 1>", b"/Count 101>")) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "source", "outputs", "data", "text", "cell_type", "image/png"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_no_shape_of_a_notebook_crashes(data: object) -> None:
    as_text(json.dumps(data))
    as_text(json.dumps({"cells": [data, {"source": data, "outputs": [data, {"data": data}]}]}))


@pytest.mark.parametrize("name", ["notebook.ipynb", "picture.png"])
@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n", b"{", b'{"cells": [{"source": "\xff"}]}', b"\xff\xd8\xff\xe0"]
)
async def test_whatever_a_file_is_called_a_read_gives_text_or_says_why(name: str, data: bytes, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    desk.put(name, data)
    outcome = await desk.call("read", file_path=name)
    if outcome.result:
        assert all(isinstance(block, Text) for block in outcome.result.blocks)
    else:
        assert outcome.error == "binary"
        assert name in outcome.text


def asking(block: Image | Document) -> object:
    """The body of a request in which a read showed this."""
    said = (
        Message("user", (Text("look"),)),
        Message("assistant", (ToolUse("toolu_1", "read", {"file_path": "f"}),)),
        Message("user", (ToolResult("toolu_1", (block,)),)),
    )
    request = Request("claude-sonnet-5-5", ("system",), (ToolSchema("read", "Read.", {"type": "object"}),), said, 1000)
    return body(request, wanted(request.model))
