"""A file's bytes as text, and back again without changing a byte that was not edited.

A codec is only chosen when it gives exactly these bytes back. Byte order marks are kept aside.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from codeagent.core.errors import ToolFault

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with BOM"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE"),
)
_SAMPLE = 1 << 20
"""Bytes that a legacy encoding is guessed from."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a file, its line ends as they are; `label` names the encoding unless it is plain UTF-8."""

    text: str
    codec: str
    mark: bytes = b""
    label: str = ""
    errors: str = "strict"

    def encode(self, text: str) -> bytes:
        """Other text in this file's encoding. Raises ToolFault (`encoding`) for what it cannot hold."""
        try:
            return self.mark + text.encode(self.codec, self.errors)
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            raise ToolFault(
                f"The file is {self.label or 'UTF-8'}, which cannot hold {char!r} (U+{ord(char):04X}). Use other "
                "characters or an escape, or convert the file first.",
                kind="encoding",
            ) from error

    @property
    def ends(self) -> str:
        """The line ends: LF, CRLF, mixed, or empty where there are none."""
        crlf = self.text.count("\r\n")
        lf = self.text.count("\n") - crlf
        return "mixed" if crlf and lf else "CRLF" if crlf else "LF" if lf else ""


def decode(data: bytes) -> Decoded | None:
    """The text of these bytes, or None when they are binary."""
    for mark, codec, label in _MARKS:
        if data.startswith(mark) and not data.startswith(codecs.BOM_UTF32_LE):
            return _exactly(data[len(mark) :], codec, mark, label)
    if b"\0" in data:
        return None
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _legacy(data)


def _exactly(data: bytes, codec: str, mark: bytes, label: str) -> Decoded | None:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        if codec != "utf-8":
            return None
        return Decoded(data.decode(codec, "surrogateescape"), codec, mark, label, "surrogateescape")
    return None if "\0" in text else Decoded(text, codec, mark, label)


def _legacy(data: bytes) -> Decoded:
    """Text that is not UTF-8: mostly UTF-8 with stray bytes, an East Asian encoding, or one byte a character."""
    text = data.decode("utf-8", "surrogateescape")
    strange, stray = len(_STRANGE.findall(text)), len(_STRAY.findall(text))
    if strange >= 2 * stray:
        return Decoded(text, "utf-8", label="UTF-8 with stray bytes", errors="surrogateescape")
    sample = data[:_SAMPLE].rpartition(b"\n")[0] or data[:_SAMPLE]
    for codec, label in _east_asian(sample):
        try:
            text = data.decode(codec)
            if text.encode(codec) == data:
                return Decoded(text, codec, label=label)
        except UnicodeError:
            continue
    try:
        if re.search(rb"[\x80-\x9f]", data):
            return Decoded(data.decode("cp1252"), "cp1252", label="Windows-1252")
    except UnicodeDecodeError:
        pass
    return Decoded(data.decode("latin-1"), "latin-1", label="Latin-1")


_STRANGE = re.compile("[^\x00-\x7f]")
_STRAY = re.compile("[\udc80-\udcff]")
_PAIRS = re.compile(rb"(?:[\xa1-\xfe]{2})+")
_HIGH = re.compile(rb"[\x80-\xff]+")


def _east_asian(sample: bytes) -> list[tuple[str, str]]:
    """Two-byte encodings that this may be, likely ones first."""
    found: list[tuple[str, str]] = []
    if _is_shift_jis(sample):
        found.append(("cp932", "Shift-JIS"))
    runs: list[bytes] = _HIGH.findall(sample)
    if all(_PAIRS.fullmatch(run) for run in runs):
        leads = [lead for run in runs for lead in run[::2]]
        common = sum(0xA1 <= lead <= 0xA9 or 0xB0 <= lead <= 0xD7 for lead in leads)
        if sum(lead in (0xA4, 0xA5) for lead in leads) * 4 >= len(leads):
            found.append(("euc_jp", "EUC-JP"))
        elif len(leads) >= 2 and all(lead <= 0xC8 for lead in leads):
            found.append(("euc_kr", "EUC-KR"))
        if common * 4 >= len(leads) * 3 and len(leads) >= 2:
            found.append(("gbk", "GBK"))
    return found


def _is_shift_jis(sample: bytes) -> bool:
    """Mostly kana, full-width signs and everyday kanji (level 1: lead bytes 0x88 to 0x97)."""
    double = single = usual = at = 0
    while at < len(sample):
        lead = sample[at]
        at += 1
        if lead < 0x80:
            continue
        if 0xA1 <= lead <= 0xDF:
            single += 1
            continue
        trail = sample[at] if at < len(sample) else 0
        if lead in (0x80, 0xA0) or lead > 0xFC or trail < 0x40 or trail == 0x7F or trail > 0xFC:
            return False
        at += 1
        double += 1
        usual += 0x81 <= lead <= 0x83 or 0x88 <= lead <= 0x97
    return double > 0 and usual * 10 >= (double + single) * 6
