"""`/rewind`: the list of points in words, which one was meant, and going there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
ANYWAY = (
    "Put them back all the same with the word anyway (what they hold now is kept, so that it can be undone), "
    "or leave all files with the word conversation."
)
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
    return words if len(words) <= WIDTH else words[: WIDTH - 3].rstrip() + "..."


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


async def go(desk: Desk, wish: Wish, refill: Callable[[str], None] | None) -> None:
    """Go back, and put on record what came of it. Raises UsageFault for conflicts, and then nothing was done.

    `refill` gets the message that was taken back, to be edited; without it the message is told.
    """
    agent, project = desk.agent, desk.project
    if wish.files and not wish.anyway and (seen := await agent.preview(wish.point.to)).conflicts:
        raise UsageFault(f"Nothing was changed yet. {against(seen, project)}\n{ANYWAY}")
    done = await agent.rewind(wish.point.to, files=wish.files, conversation=wish.conversation, anyway=wish.anyway)
    told = []
    if wish.files:
        put_back = changed(done.files, project)
        told.append(f"Put back {put_back}." if put_back else "No file had to be put back.")
    told += [f"{short(each.path, project)} was left: {each.why}." for each in done.troubles]
    if done.text and refill:
        refill(done.text)
    elif done.text:
        told.append(f"You had said: {done.text}")
    if told:
        agent.note(" ".join(told), topic="rewind")


def outlook(seen: Preview, project: Path) -> str:
    """What going back would put back, and what stands against it."""
    files = changed([FileChange(each.path, each.expected, each.wanted) for each in seen.plan], project)
    words = f"Puts back {files}." if files else "No file has to be put back."
    return f"{words}\n{against(seen, project)}" if seen.conflicts else words


def against(seen: Preview, project: Path) -> str:
    """The files that cannot simply be put back, a line each."""
    lines = [f"  {short(each.path, project)}: {each.why}" for each in seen.conflicts]
    return "\n".join(["These files are not as this session left them:", *lines])
