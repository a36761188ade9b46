"""What is recorded of calls: who decided, that they began, how they ended, what they changed and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from codeagent.core.effects import By, Decision
from codeagent.core.fact import Fact
from codeagent.core.file_states import FileChange, FileState, Saw
from codeagent.core.messages import Document, Image, Text, Usage
from codeagent.core.views import View

OWN = "own"
"""What the ids of calls begin with that the person makes."""


class Decided(Fact, frozen=True, tag="decided"):
    """The gate's decision about a call: what, by whom, by which rule, what the person added."""

    use_id: str
    tool: str
    title: str
    decision: Decision
    by: By
    why: str = ""
    rule: str = ""
    where: str = ""
    risk: int = 1
    words: str = ""
    stored: tuple[str, ...] = ()
    """Rules that "don't ask again" stored."""
    nobody: bool = False
    """True when it was refused because nobody could be asked."""
    revised: Mapping[str, Any] | None = None
    """The input as the person changed it, if they did."""
    agent: str = ""
    """The sub-agent whose call it was: its own transcript has the call, the session's log this copy."""
    hunks: tuple[int, ...] | None = None
    """Positions of the only hunks that the person took; None: all of the change."""
    who: str = ""
    """Who answered in the person's place, as "the tour"; empty: the person, where one was asked."""


class ToolStarted(Fact, frozen=True, tag="tool_started"):
    """A permitted call began. From here on its effect may have happened."""

    use_id: str
    tool: str
    label: str
    title: str
    view: View
    risk: int = 1
    key: str = ""
    """Idempotency key: a call with this key is never run twice silently."""
    kept: tuple[tuple[str, FileState], ...] = ()
    """What stands at the paths that it will change, and is kept in the snapshots."""
    scanned: bool = False
    """Whether the whole project was looked at before, so that the snapshots can tell what it changed."""


class ToolFinished(Fact, frozen=True, tag="tool_finished"):
    """A call's result: `blocks` for the model, `view` and `summary` (a few words) for the eye.

    `before` and `after` are sha256 hashes of the file that it changed. `cwd` is the shell's new
    working directory, if it moved.
    """

    use_id: str
    tool: str
    blocks: tuple[Text | Image | Document, ...]
    is_error: bool = False
    outcome: Literal["done", "failed", "refused", "timeout", "interrupted", "skipped"] = "done"
    summary: str = ""
    view: View | None = None
    took_ms: int = 0
    saw: tuple[Saw, ...] = ()
    before: str = ""
    after: str = ""
    cwd: str = ""


class Changed(Fact, frozen=True, tag="changed"):
    """What a call did to files; `use_id` is empty for a rewind, and for calls that are not on record here."""

    use_id: str
    files: tuple[FileChange, ...] = ()
    call: str = ""
    """The sub-agent's own call, where `use_id` is the `task` call that it works for."""


class Prepared(Fact, frozen=True, tag="prepared"):
    """A sub-agent's call that may change files is about to run; `kept` and `scanned` as in ToolStarted.

    Its end stands in the sub-agent's transcript; a kill meanwhile must not make the session forget those files.
    `use_id` is the `task` call that the sub-agent works for, `call` its own.
    """

    use_id: str
    call: str
    kept: tuple[tuple[str, FileState], ...] = ()
    scanned: bool = False


class Spent(Fact, frozen=True, tag="spent"):
    """What one reply to a sub-agent cost; `use_id` is the `task` call that it works for. `cost` as in AssistantSaid."""

    use_id: str
    usage: Usage = Usage()
    cost: float | None = None
    model: str = ""
