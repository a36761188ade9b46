"""Runs the recorded calls of a session again, for real, in a copy of its project, and compares what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codeagent.core.calls import Calls
from codeagent.core.effects import Answer, AskPermission, Question, Risk
from codeagent.core.errors import UsageFault
from codeagent.core.events import Decided, Entry, Opened
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import ToolUse
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Rules
from codeagent.core.seen import Seen
from codeagent.fronts.present import count
from codeagent.host.clock import RandomIds, SystemClock
from codeagent.host.jobs import Jobs
from codeagent.host.temporary import Temporary
from codeagent.host.trees import copy_project
from codeagent.host.workspace import Workspace
from codeagent.options import Options
from codeagent.sessions import undoing
from codeagent.sessions.comparing import Called, Parting, calls, place, results
from codeagent.wiring import tooling
from codeagent.wiring.ground import Ground

LEFT_OUT = {
    "ask_user": "it asks a person",
    "present_plan": "it asks a person",
    "task": "it asks a model",
}
"""Tools whose calls cannot be run again, and why."""

UNREPEATED = ("refused", "skipped", "interrupted")
"""Outcomes of calls that did not run to their end: there is nothing to compare."""


class Rerun(Struct, frozen=True):
    """What came of it: differing results, calls that were not run again with the reason, words for the person."""

    differences: tuple[Parting, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]


def rerun(
    entries: Sequence[Entry],
    project: Path,
    environ: Mapping[str, str],
    home: Path,
    *,
    everything: bool = False,
    keep: bool = False,
) -> Rerun:
    """Copy `project`, take this session's own changes back in the copy, and run its calls again there.

    A call that may reach beyond the copy is left out unless `everything` is wanted. With `keep` the copy stays.
    Raises UsageFault for a project that cannot be copied.
    """
    if not any(isinstance(entry, Opened) for entry in entries):
        raise UsageFault("This log has lost its first line, so its tools cannot be run again.")
    made = None if keep else Temporary("replay")
    folder = (made.path if made else Path(mkdtemp(prefix="codeagent-kept-"))).resolve()
    copy = folder / project.name
    try:
        copy_project(project, copy, {project / ".agent" / "sessions", project / ".agent" / "snapshots"})
        notes = [*_taken_back(entries, copy)]
        found = asyncio.run(_Again(entries, project, copy, everything=everything).run(environ, home))
    finally:
        if made:
            made.close()
    return replace(found, notes=(*notes, *found.notes, *((f"The copy is kept in {copy}",) if keep else ())))


def _taken_back(entries: Sequence[Entry], copy: Path) -> list[str]:
    """Put files back to what they were before the session; words on how far that went."""
    done, stuck = 0, set[str]()
    for change, before, after in undoing.changes(entries):
        path = copy / change.path
        if change.path in stuck:
            continue
        data = path.read_bytes() if path.is_file() and copy in path.resolve().parents else None
        if data is None or sha256(data).hexdigest() != after:
            stuck.add(change.path)
        elif not before:
            path.unlink()
            done += 1
        elif (old := undoing.before(data, change, before)) is not None:
            path.write_bytes(old)
            done += 1
        else:
            stuck.add(change.path)
    words = [f"Taken back in the copy first: {count(done, 'change')} of this session."] if done else []
    if stuck:
        words.append(f"Not taken back, because they have changed since: {', '.join(sorted(stuck))}")
    return words


def _stay(_mode: str) -> None:
    """A plan of the recording leads nowhere: its calls are run as they were."""


class _Recorded:
    """The person of the recording: says again what was said then, and no to what could leave the copy."""

    attended = True

    def __init__(self, entries: Sequence[Entry], in_copy: Callable[[Any], Any], *, everything: bool) -> None:
        self._in_copy = in_copy
        self._decided = {entry.use_id: entry for entry in entries if isinstance(entry, Decided)}
        self._everything = everything
        self.refused: dict[str, str] = {}

    async def ask(self, question: Question) -> Answer:
        if not isinstance(question, AskPermission):
            return Answer("no")
        effect = question.effect
        reaches = effect.risk == Risk.HIGH or any(t.access == "write" and t.place != "inside" for t in effect.touches)
        if reaches and not self._everything:
            self.refused[question.use_id] = f"{effect.title}: it may reach beyond the copy (--all runs it)"
            return Answer("no")
        then = self._decided.get(question.use_id)
        return Answer("yes", then.words, self._in_copy(then.revised), then.hunks) if then else Answer("yes")


class _Again:
    """One run of the recorded calls."""

    def __init__(self, entries: Sequence[Entry], project: Path, copy: Path, *, everything: bool) -> None:
        self._calls, self._here, self._copy = calls(entries), place(entries) or str(project), copy
        self._person = _Recorded(entries, self._in_copy, everything=everything)
        self._left_out: list[str] = []
        self._differences: list[Parting] = []

    async def run(self, environ: Mapping[str, str], home: Path) -> Rerun:
        ground = Ground(Options(cwd=str(self._copy), trust=True, bare=True), environ, home)
        clock, journal = SystemClock(), Journal()
        workspace = Workspace(
            self._copy, home, self._copy.parent / "outputs", ground.child_env, seen=Seen((), str(self._copy))
        )
        journal.watch(workspace.seen.see)
        planning = tooling.Planning(lambda: "default", _stay)
        jobs = Jobs("replay", clock, ground.sandbox(workspace))
        tools = tooling.build(workspace, "replay", ground, self._person, jobs, planning)
        rules = Rules((), Anchors(str(self._copy), str(home), str(self._copy)))
        gate = Gate(self._person, journal.append, lambda: rules, lambda _rule: "")
        made = Calls(journal, tools, gate, clock, RandomIds())
        try:
            for number, called in enumerate(self._calls, 1):
                await self._one(number, called, made)
        finally:
            await jobs.close()
        ran = len(self._calls) - len(self._left_out)
        words = f"{ran:,} of {count(len(self._calls), 'call')} run again; another result: {len(self._differences):,}."
        return Rerun(tuple(self._differences), tuple(self._left_out), (words,))

    async def _one(self, number: int, called: Called, made: Calls) -> None:
        use, what = called.use, f"call {number}, {called.use.name}"
        if use.name in LEFT_OUT:
            self._left_out.append(f"{what}: {LEFT_OUT[use.name]}")
        elif called.done is None or called.done.outcome in UNREPEATED:
            outcome = called.done.outcome if called.done else "not finished"
            self._left_out.append(f"{what}: it was {outcome} then")
        else:
            done = (await made.run([self._moved(use)]))[0]
            if use.id in self._person.refused:
                self._left_out.append(f"{what}: {self._person.refused[use.id]}")
                return
            lines = results(called.done, done, self._here, str(self._copy))
            if lines:
                self._differences.append(Parting(number, what, lines))

    def _moved(self, use: ToolUse) -> ToolUse:
        """The same call, about the copy."""
        return replace(use, input=self._in_copy(use.input))

    def _in_copy(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(self._here, str(self._copy))
        if isinstance(value, Mapping):
            return {key: self._in_copy(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._in_copy(part) for part in value]
        return value
