"""A session as a script: its replies in order, to be said again by `--model script:FILE`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from codeagent.core.compaction import OPEN_REQUESTS, OPENING
from codeagent.core.conversation import live
from codeagent.core.events import AssistantSaid, Compacted, Entry, Opened, Switched
from codeagent.core.messages import Block, Text, ToolUse
from codeagent.models import catalog
from codeagent.models.recording import write

_OURS = re.compile(r"step\d+_\d+_\d+")
"""Call ids that a script gave: they name a step of that script, and would name another one of this."""


def retell(entries: Sequence[Entry]) -> str:
    """The script. What was rewound is left out, and so are replies that never went back to the model.

    Calls keep their ids, unless these name places in a script, or a compaction has cut the history by which the place
    in the script is found: then each is named for its step. The last summary answers every compaction. The window is
    that of the model, so that none comes sooner.
    """
    told = [entries[position] for position in live(entries)]
    summaries = [entry for entry in told if isinstance(entry, Compacted)]
    rename = bool(summaries) or any(_OURS.fullmatch(use.id) for said in _replies(told) for use in said.uses)
    window = catalog.info(_model(told)).window
    steps = [f"window {window}\n"] if window != catalog.info("").window else []
    steps += [write(_step(said, number, rename)) for number, said in enumerate(_replies(told), 1)]
    if summaries:
        steps.append(_summary(summaries[-1]))
    return "".join(steps)


def _model(entries: Sequence[Entry]) -> str:
    """The model that spoke last: in its window the session found its place."""
    models = [entry.model for entry in entries if isinstance(entry, Opened | Switched) and entry.model]
    return models[-1] if models else ""


def _replies(entries: Sequence[Entry]) -> Iterator[AssistantSaid]:
    return (e for e in entries if isinstance(e, AssistantSaid) and not e.void and e.blocks)


def _step(said: AssistantSaid, number: int, rename: bool) -> AssistantSaid:
    if said.stop == "interrupted":  # nobody interrupts a script: it simply ends there
        said = replace(said, stop="tool_use" if said.uses else "end_turn")
    return replace(said, blocks=tuple(_named(said.blocks, number))) if rename else said


def _named(blocks: Sequence[Block], number: int) -> Iterator[Block]:
    calls = 0
    for block in blocks:
        if isinstance(block, ToolUse):
            calls += 1
            yield replace(block, id=f"step{number}_{number}_{calls}")
        else:
            yield block


def _summary(compacted: Compacted) -> str:
    words = compacted.summary.removeprefix(OPENING).partition(OPEN_REQUESTS)[0]
    return write(AssistantSaid((Text(words),), cost=compacted.cost)).replace("---", "--- summary", 1)
