"""What `edit` and `write` share: plan a change as a diff, then write exactly what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from codeagent.core.diffs import changed_lines, changes, diff, groups
from codeagent.core.effects import Effect, Permit, Risk, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.events import Saw
from codeagent.core.hunks import mixed, parted, told
from codeagent.core.ports import Result
from codeagent.core.views import Diff, Hunk
from codeagent.host import files
from codeagent.host.storing import stale, store
from codeagent.host.workspace import Workspace
from codeagent.tools import media
from codeagent.tools.encodings import decode
from codeagent.tools.places import Judge, judged, same_place, shown_path


@dataclass(frozen=True, slots=True)
class Draft:
    """The bytes after a change, and the text before and after it."""

    after: bytes
    old_text: str
    new_text: str
    words: str = ""
    """What the model should know about how it was done."""
    encode: Callable[[str], bytes] = str.encode
    """Other text as bytes of this file."""


@dataclass(frozen=True, slots=True)
class _Drafted:
    """A draft with what is told of it: the diff, the hashes before (empty: no file) and after, and the lines after."""

    draft: Draft
    view: Diff
    before: str
    after: str
    lines: int


Make = Callable[[bytes | None, Touch], Draft]
"""Works a change out against the bytes that are there; raises ToolFault. Pure, and runs in a thread."""


class Changing:
    """Plans and makes changes of one file at a time, under the file's lock."""

    def __init__(self, workspace: Workspace, judge: Judge) -> None:
        self._workspace = workspace
        self._judge = judge

    async def plan(self, tool: str, file_path: str, make: Make) -> Effect:
        """The effect, with the diff that will be written and the hashes it leads from and to."""
        touch = judged(self._judge, file_path, "write")
        done = await asyncio.to_thread(self._drafted, make, touch)
        label = shown_path(touch, self._workspace)
        verb = "Create" if done.view.created else "Edit" if tool == "edit" else "Overwrite"
        return Effect(
            tool,
            label,
            f"{verb} {label}",
            Risk.MEDIUM if touch.place == "inside" else Risk.HIGH,
            done.view,
            (touch,),
            cwd=str(self._workspace.cwd),
            before=done.before,
            after=done.after,
            hunkwise=len(done.view.hunks) > 1 and not done.view.omitted,
        )

    async def run(self, make: Make, permit: Permit) -> Result:
        """Write what was permitted, if the file is still what it was then."""
        touch = same_place(self._judge, permit.effect.touches[0])
        async with self._workspace.lock(touch.path):
            done = await asyncio.to_thread(self._drafted, make, touch)
            self._check(done, permit.effect, touch)
            if permit.hunks is not None:
                done = await asyncio.to_thread(_in_part, done, permit.effect, permit.hunks)
            if done.before != done.after:
                await _to_the_end(store, touch.path, done.draft.after, done.before)
        counts = f"+{done.view.added} -{done.view.removed}"
        part = f", {len(permit.hunks)} of {len(_hunks(permit.effect))} hunks" if permit.hunks is not None else ""
        verb = "Created" if done.view.created else "Changed" if done.before != done.after else "No change in"
        return Result.of(
            f"{verb} {done.view.path}: {counts} lines.{done.draft.words}",
            summary=counts + part,
            view=done.view,
            saw=(Saw(touch.path, done.after, 1, done.lines, wrote=True),),
            before=done.before,
            after=done.after,
        )

    def _drafted(self, make: Make, touch: Touch) -> _Drafted:
        found = files.current(touch.path)
        label = shown_path(touch, self._workspace)
        before = "" if found is None else files.digest(found)
        if before:
            self._check_known(touch.path, found or b"", before, label)
        draft = make(found, touch)
        view = diff(label, _valid(draft.old_text), _valid(draft.new_text), created=found is None)
        return _Drafted(draft, view, before, files.digest(draft.after), _lines(draft.after))

    def _check_known(self, path: str, found: bytes, before: str, label: str) -> None:
        """The model must have seen the file, and these very bytes of it; what it cannot see, it cannot change."""
        sight = self._workspace.seen.latest(path)
        if sight is not None and sight.digest == before:
            return
        if kind := media.media_type(found) or ("" if decode(found) else "binary"):
            raise ToolFault(
                f"{label} is no text file ({kind}), so that write and edit do not touch it. Change it with a command "
                "(bash) that understands it; if its content may be lost, remove it with bash first, then write.",
                summary="binary",
                kind="binary",
            )
        if sight is None:
            raise ToolFault(
                f"{label} was not read in this session. Read it first, so that nothing in it is lost.",
                summary="not read yet",
                kind="not_read",
            )
        raise stale(path)

    def _check(self, done: _Drafted, effect: Effect, touch: Touch) -> None:
        """What would be written now is what was shown.

        The bytes may be others than when it was planned only if our own tools made them since (`_check_known`),
        and then the lines that go and come must be the same.
        """
        if done.before == effect.before:
            if done.after != effect.after:
                raise ToolFault("The change is not the one that was permitted. Nothing was written.", kind="stale")
            return
        planned = effect.view
        if (
            not done.before
            or not effect.before
            or not isinstance(planned, Diff)
            or planned.omitted
            or changed_lines(planned) != changed_lines(done.view)
        ):
            raise stale(touch.path)


def _in_part(done: _Drafted, effect: Effect, taken: tuple[int, ...]) -> _Drafted:
    """The same with these hunks only, if they are still the hunks that were shown."""
    draft, view = done.draft, done.view
    if [changes(hunk) for hunk in view.hunks] != [changes(hunk) for hunk in _hunks(effect)]:
        raise stale(effect.touches[0].path)
    spans = groups(_valid(draft.old_text), _valid(draft.new_text))
    text = mixed(draft.old_text, draft.new_text, spans, taken)
    after = draft.encode(text)
    made, left = parted(view, taken)
    part = Draft(after, draft.old_text, text, told(made, left))
    return _Drafted(part, made, done.before, files.digest(after), _lines(after))


def _hunks(effect: Effect) -> tuple[Hunk, ...]:
    return effect.view.hunks if isinstance(effect.view, Diff) else ()


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (data[-1:] not in (b"\n", b""))


async def _to_the_end(work: Callable[[str, bytes, str], None], path: str, data: bytes, expected: str) -> None:
    """Write in a thread. A cancel waits for it, so that the file's lock is held until the file is whole."""
    task = asyncio.ensure_future(asyncio.to_thread(work, path, data, expected))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _valid(text: str) -> str:
    """Text that can be shown and stored; bytes that are no character become U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
