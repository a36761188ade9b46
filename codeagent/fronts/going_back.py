"""`/rewind`: the list of points in words, which one was meant, and going there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from codeagent.core.clean import clean_line
from codeagent.core.errors import UsageFault
from codeagent.core.file_states import FileChange
from codeagent.core.rewind import Point, Preview
from codeagent.fronts import present

if TYPE_CHECKING:
    from codeagent.fronts.desk import Desk

NAMED = 3
"""Files that a row names."""

WIDTH = 60
"""Characters of a message that a row shows."""

HOW = "Go back to just before one: /rewind NUMBER, or in part: /rewind NUMBER files, /rewind NUMBER conversation"
UNDO = "undo the last rewind"


class Wish(Struct, frozen=True):
    """Where to go back to and what with it; `anyway` also where others changed files since."""

    point: Point
    files: bool = True
    conversation: bool = True
    anyway: bool = False


def title(point: Point) -> str:
    """The message that a point stands for, in one line."""
    if point.undo:
        return UNDO
    words = clean_line(point.text.strip()) or "(a picture)"
    return words if len(words) <= WIDTH else words[: WIDTH - 1].rstrip() + "…"


def changed(files: Sequence[FileChange], project: Path) -> str:
    """`2 files: shop/cart.py, README.md`; folders do not count."""
    names = [short(change.path, project) for change in files if "folder" not in (change.before.kind, change.after.kind)]
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{present.count(len(names), 'file')}: {', '.join(names[:NAMED])}{more}"


def short(path: str, project: Path) -> str:
    """A path as a person knows it, on one line."""
    return clean_line(path.removeprefix(f"{project}/"))


def listed(points: Sequence[Point], project: Path) -> str:
    """All points, numbered, each with what changed from there to the next."""
    rows = []
    for number, point in enumerate(points, 1):
        name = "undo" if point.undo else str(number)
        rows.append(f"{name:>4}  {title(point)}  -  {changed(point.files, project) or 'no file changed'}")
    return "\n".join([*rows, HOW]) if rows else "Nothing was said yet: there is nothing to go back to."


def wished(words: str, points: Sequence[Point]) -> Wish:
    """What `/rewind WORDS` means. Raises UsageFault."""
    first, *rest = words.lower().split()
    known = {"undo" if point.undo else str(number): point for number, point in enumerate(points, 1)}
    if first not in known:
        raise UsageFault(f"There is no point {first!r} to go back to. /rewind lists them.")
    if unknown := set(rest) - {"files", "conversation", "both", "anyway"}:
        raise UsageFault(f"What does {' '.join(sorted(unknown))!r} mean here? {HOW}")
    point = known[first]
    usual = (point.rewound.files, point.rewound.conversation) if point.rewound else (True, True)
    part = {"files": (True, False), "conversation": (False, True), "both": (True, True)}
    files, conversation = next((part[word] for word in rest if word in part), usual)
    return Wish(point, files, conversation, "anyway" in rest)


async def go(desk: Desk, wish: Wish) -> tuple[str, str]:
    """Go back. What was done, in words, and the message that was taken back. Raises UsageFault for conflicts."""
    seen = await desk.agent.preview(wish.point.to)
    if wish.files and seen.conflicts and not wish.anyway:
        raise UsageFault(f"Nothing was changed yet. {against(seen, desk.project)}")
    done = await desk.agent.rewind(wish.point.to, files=wish.files, conversation=wish.conversation, anyway=wish.anyway)
    told = [f"Put back {each}." if (each := changed(done.files, desk.project)) else ""]
    if wish.files and not done.files:
        told.append("No file had to be put back.")
    told += [f"{short(each.path, desk.project)} was left: {each.why}." for each in done.troubles]
    return " ".join(filter(None, told)), done.text


def against(seen: Preview, project: Path) -> str:
    """What stands against putting files back, and what can be done."""
    lines = [f"  {short(each.path, project)}: {each.why}" for each in seen.conflicts]
    return "\n".join(
        [
            "These files are not as this session left them:",
            *lines,
            "Put them back all the same with the word anyway (what they hold now is kept, so that it can be undone), "
            "or leave all files with the word conversation.",
        ]
    )
