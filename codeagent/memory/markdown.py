"""Guideline Markdown as the model gets it: comments out, imports found, code left alone."""

from __future__ import annotations

import re

_MARK = re.compile(r"^ {0,3}(`{3,}|~{3,})|(`{1,2})[^`\n]+\2(?!`)|<!--", re.MULTILINE)
"""Where something begins that is no plain prose: a fenced block, a code span, a comment."""

_IMPORT = re.compile(r"(?:^|(?<=[\s(]))@([\w.~/][\w./~\-]*)")

_BLANK = re.compile(r"[ \t]*(?:\n|\Z)")


def read_through(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without HTML comments, and the paths that it imports (`@path`), both outside code only.

    A comment that never ends is text. Linear in the length of the text.
    """
    kept: list[str] = []
    imports: list[str] = []
    last_end = text.rfind("-->")
    place = 0
    while (mark := _MARK.search(text, place)) is not None:
        prose = text[place : mark.start()]
        imports += _IMPORT.findall(prose)
        kept.append(prose)
        if mark[1]:
            place = _fence_end(text, mark[1], mark.end())
        elif mark[2] or mark.end() > last_end:
            place = mark.end()
        else:
            place = _comment_end(text, mark.start(), mark.end())
            continue
        kept.append(text[mark.start() : place])
    kept.append(text[place:])
    imports += _IMPORT.findall(text[place:])
    return "".join(kept).strip(), tuple(dict.fromkeys(path.rstrip(".") for path in imports))


def _fence_end(text: str, fence: str, place: int) -> int:
    """Where the block ends that this fence began: after a fence at least as long, or with the text."""
    closing = re.compile(rf"^ {{0,3}}{re.escape(fence)}{fence[0]}*[ \t]*$", re.MULTILINE).search(text, place)
    return closing.end() if closing else len(text)


def _comment_end(text: str, start: int, place: int) -> int:
    """Where the text goes on after a comment; the line end goes too when the comment had its lines for itself."""
    end = text.index("-->", place) + 3
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    blank = _BLANK.match(text, end)
    return blank.end() if alone and blank else end
