"""Guideline Markdown as the model gets it: comments out, imports found, code left alone."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)[^`]*\1")
_IMPORT = re.compile(r"(?:^|(?<=[\s(]))@([\w.~/][\w./~\-]*)")


def read_through(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without HTML comments, and the paths that it imports (`@path`), both outside code only.

    A comment that never ends is text. Linear in the length of the text.
    """
    kept: list[str] = []
    imports: list[str] = []
    fence = ""
    ends = text.rfind("-->")
    place = 0
    while place < len(text):
        stop = text.find("\n", place) + 1 or len(text)
        line = text[place:stop]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~\n"):
                fence = ""
            kept.append(line)
        elif mark:
            fence = mark[1]
            kept.append(line)
        else:
            opened = _comment(line)
            if opened >= 0 and place + opened < ends:
                after = text.index("-->", place + opened) + 3
                stop = after if text[after : text.find("\n", after) + 1 or len(text)].strip() else _next(text, after)
                line = line[:opened] + ("" if stop == after or not line[:opened].strip() else "\n")
            kept.append(line)
            imports += _IMPORT.findall(_CODE.sub("", line))
        place = stop
    return "".join(kept).strip(), tuple(dict.fromkeys(path.rstrip(".") for path in imports))


def _comment(line: str) -> int:
    """Where a comment begins in this line, outside code spans; -1 when none does."""
    masked = _CODE.sub(lambda span: "." * len(span[0]), line)
    return masked.find("<!--")


def _next(text: str, place: int) -> int:
    return text.find("\n", place) + 1 or len(text)
