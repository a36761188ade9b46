"""JSON, one object a line, for the streams that programs read; and the ids of those lines."""

from __future__ import annotations

import json
import os
import re
from typing import Any

_STEERING = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""What could steer a terminal or break a line, and surrogates, which are no text."""


def encoded(line: Any) -> str:
    """JSON on one line that cannot steer a terminal: control and format characters stay escaped."""
    return _STEERING.sub(_escaped, json.dumps(line, ensure_ascii=False, separators=(",", ":")))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


def fresh_id() -> str:
    """A new random UUID (version 4), without the import of `uuid`."""
    digits = bytearray(os.urandom(16))
    digits[6], digits[8] = digits[6] & 0x0F | 0x40, digits[8] & 0x3F | 0x80
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
