"""What comes back after a compaction: files touched lately, and what changed in guidelines and memory index."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codeagent.core.errors import ToolFault
from codeagent.core.events import Entry, Noted, Opened, Saw, ToolFinished
from codeagent.core.seen import Seen
from codeagent.host.durable import read_regular
from codeagent.memory.instructions import Guideline

MOST_BYTES = 1_000_000
"""A file longer than this is not looked at again."""

SHARE = 5
"""One file gets at most a fifth of what all may have: 5,000 of 25,000 tokens."""

CUT = "\n(cut here: read the rest when you need it)"


class PutBack:
    """The notes. `guidelines` are those in force now, `index` the memory index as a prompt shows it (or empty)."""

    def __init__(self, seen: Seen, guidelines: Callable[[], Sequence[Guideline]], index: Callable[[], str]) -> None:
        self._seen, self._guidelines, self._index = seen, guidelines, index

    def __call__(self, entries: Sequence[Entry], tail: Sequence[Entry], room: int) -> tuple[str, ...]:
        """Notes for the model; `tail` are the entries that stay, `room` the characters that files may take."""
        prompt = "\n\n".join(next((e.system for e in entries if isinstance(e, Opened)), ()))
        told = next((e.digest for e in entries if isinstance(e, Noted) and e.topic == "guidelines" and e.digest), "{}")
        return (*self._changed(prompt, json.loads(told)), *self._memory(prompt), *self._files(tail, room))

    def _changed(self, prompt: str, first: dict[str, str]) -> Iterator[str]:
        """Guidelines that are not as the system prompt has them."""
        now = self._guidelines()
        for each in now:
            if each.text not in prompt:
                yield f"The guideline file {each.path} changed since the session began; in force is:\n\n{each.text}"
        for path in first.keys() - {each.path for each in now}:
            yield f"The guideline file {path} is gone; it is no longer in force."

    def _memory(self, prompt: str) -> Iterator[str]:
        try:
            index = self._index().strip()
        except ToolFault:  # it cannot be read now; the tool says why when it is asked
            return
        if index and index not in prompt:
            yield f"The memory index changed since the session began; it is now:\n\n{index}"

    def _files(self, tail: Sequence[Entry], room: int) -> Iterator[str]:
        """Text files, the latest first, without those of which the kept entries show the same."""
        kept = [saw for e in tail if isinstance(e, ToolFinished) for saw in e.saw if not saw.wrote]
        shown = {saw.path for saw in kept if saw.whole or saw == self._seen.latest(saw.path)}
        share = room // SHARE
        for path in reversed(self._seen.recent()):
            saw = self._seen.latest(path)
            text = None if path in shown or saw is None or room < share else _text(Path(path))
            if saw is not None and text is not None:
                note = _note(saw, text, share)
                room -= len(note)
                yield note


def _note(saw: Saw, text: str, share: int) -> str:
    """The file as it is now, from where it was looked at last when all of it is too long."""
    same = saw.digest == hashlib.sha256(text.encode()).hexdigest()
    remark = "" if same else " (it changed since you saw it: read it before you edit it)"
    if len(text) > share:
        lines = text.splitlines(keepends=True)
        first = 1 if saw.whole or saw.first > len(lines) else saw.first
        text = "".join(lines[first - 1 :])
        remark += f", from line {first}" if first > 1 else ""
    head = f"{saw.path}, which you worked with lately{remark}:\n\n"
    least = share - len(head) - len(CUT)
    return head + (text if len(text) <= least else text[:least].rpartition("\n")[0] + CUT)


def _text(path: Path) -> str | None:
    """A text file's words; None for what is gone, too long, a link or no text."""
    try:
        data, _ = read_regular(path, MOST_BYTES, follow=False)
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
