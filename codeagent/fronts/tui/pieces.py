"""The pieces that a conversation is drawn from, before any screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codeagent.core.clean import clean_line
from codeagent.core.events import Decided
from codeagent.core.messages import ToolUse
from codeagent.core.views import View

Kind = Literal["said", "words", "thinking", "call", "notice"]
Fold = Literal["closed", "peek", "open"]
"""How much of a block is shown: its one line, a few lines more, everything."""


@dataclass(slots=True, eq=False)
class Call:
    """A tool call as it goes along. `output` is the tail of what it printed; of the texts only the labels are clean."""

    use_id: str
    name: str
    label: str = ""
    state: Literal["writing", "waiting", "running", "finished"] = "writing"
    received: int = 0
    outcome: str = "done"
    summary: str = ""
    took_ms: int = 0
    view: View | None = None
    output: str = ""
    decided: Decided | None = None


@dataclass(slots=True, eq=False)
class Block:
    """One piece of the conversation. `text` is clean; `gap` asks for a blank row before it.

    `level` is that of a notice: info, warning, error, or command for one as it was typed. `live` words may still grow;
    `code` says that they are an open fence. `version` rises with each change.
    """

    kind: Kind
    text: str = ""
    gap: bool = True
    fold: Fold = "closed"
    level: str = "info"
    live: bool = False
    code: bool = False
    whole: bool = False
    call: Call | None = None
    version: int = 0


def label_of(use: ToolUse) -> str:
    """What a call is about, guessed from its input until the tool itself says so."""
    for key in ("path", "file_path", "command", "pattern", "url", "description"):
        if isinstance(value := use.input.get(key), str):
            return clean_line(value)
    return next((clean_line(v) for v in use.input.values() if isinstance(v, str)), "")
