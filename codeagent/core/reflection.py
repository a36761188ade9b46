"""When the same thing fails again, the model is asked once to say why before it tries a third time. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from codeagent.core.conversation import digest
from codeagent.core.events import AssistantSaid, Entry, Event, Noted, ToolFinished, UserSaid
from codeagent.core.messages import Text

TOPIC = "reflection"
"""Topic of the note; its digest is the problem, so that no problem is raised twice in a session."""

ASKED = (
    "{what} failed again. Before the next try, write in two or three sentences why it failed, what the attempts so far "
    "have ruled out, and what you will do differently."
)
LEARN = (
    " Once it is solved, and if a later session could run into it too, add a line to the memory topic `lessons` "
    "(read it first, if there is one): what failed, and what worked."
)

COUNTED = ("failed", "timeout")
"""Outcomes that count: what a person refused or stopped is no failure of the attempt."""


class Problem(Struct, frozen=True):
    """What failed: `key` is the same for the same problem, `what` names it for the model."""

    key: str
    what: str


class Reflection:
    """Counts failures within a task, which begins when the person says something; a fold of the journal.

    The same command that fails, or a tool that fails with the same words, is the same problem. A success
    of the command takes it back.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._commands: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._told: set[str] = set()
        self._due: Problem | None = None
        for entry in entries:
            self.see(entry)

    def see(self, event: Event) -> None:
        """Take note of an event; to be registered as a journal's watcher."""
        match event:
            case UserSaid(queued=""):
                self._commands.clear()
                self._failures.clear()
                self._due = None
            case AssistantSaid():
                self._commands |= {u.id: _line(u.input.get("command")) for u in event.uses if u.name == "bash"}
            case ToolFinished():
                self._count(event)
            case Noted(topic="reflection", digest=key):
                self._told.add(key)
                self._due = None
            case _:
                pass

    def note(self, *, memory: bool) -> Noted | None:
        """What the model is asked now, once for each problem. With `memory` it may keep what it learns."""
        if self._due is None:
            return None
        words = ASKED.format(what=self._due.what) + (LEARN if memory else "")
        return Noted(words, to="model", topic=TOPIC, digest=self._due.key)

    def _count(self, finished: ToolFinished) -> None:
        problem = self._problem(finished)
        if finished.outcome not in COUNTED:
            self._failures.pop(problem.key, None)
            return
        times = self._failures[problem.key] = self._failures.get(problem.key, 0) + 1
        if times == 2 and problem.key not in self._told:
            self._due = problem

    def _problem(self, finished: ToolFinished) -> Problem:
        if command := self._commands.get(finished.use_id):
            return Problem(digest(command)[:12], "The same command")
        words = "\n".join(block.text for block in finished.blocks if isinstance(block, Text))
        key = digest((finished.tool, words.strip().split("\n")[0]))[:12]
        return Problem(key, f"The tool {finished.tool}, in the same way,")


def _line(command: object) -> str:
    return " ".join(command.split()) if isinstance(command, str) else ""
