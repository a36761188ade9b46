"""Events become blocks: the conversation as a list that a screen can draw, without knowing any screen.

The same fold serves a live turn (deltas first, then the whole reply) and a resumed session (whole
replies only). `take_changed` tells where the list has changed since it was last drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Literal

from codeagent.core.clean import clean, clean_line
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    CallDelta,
    Decided,
    Event,
    Heard,
    Opened,
    Retried,
    Switched,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Text, Thinking, ToolUse
from codeagent.core.views import Diff, Todo
from codeagent.fronts import present
from codeagent.fronts.tui.pieces import Block, Call, Fold, Kind, label_of
from codeagent.fronts.tui.splitter import Splitter

_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s", re.MULTILINE)
WHOLE = 20_000
"""Replies with link references up to this many characters are drawn in one piece, so that the links resolve."""


OWN = "own_"
"""How the ids of commands begin that the person ran with `!`: who ran it wants to see what it printed."""

OUTPUT_KEPT = 4000
"""Characters of a running call's output that are kept for the eye."""


@dataclass(eq=False)
class Story:
    """The blocks so far, and the todo list as it stands."""

    blocks: list[Block] = field(default_factory=list)
    todo: Todo | None = None

    def __post_init__(self) -> None:
        self._changed: int | None = None
        self._mode = ""
        """The mode that was switched to and not told yet."""
        self._told = ""
        """The mode as it was told last."""
        self._calls: dict[str, int] = {}
        self._begin_reply()

    # -- the fold ------------------------------------------------------------------------------

    def see(self, event: Event) -> None:  # noqa: C901, PLR0912 - one case each, flat on purpose
        """Take in one event."""
        match event:
            case TextDelta(text=text):
                self._stream("words", text)
            case ThinkingDelta(text=text):
                self._stream("thinking", text)
            case CallDelta():
                self._writing(event)
            case ToolProgress():
                self._progress(event)
            case UserSaid():
                self._user(event)
            case Asked(purpose="step"):
                self._begin_reply()
            case Heard(text=text, thinking=False):
                self._record += text
            case AssistantSaid():
                self._reply(event)
            case Decided(agent=""):
                self._decided(event)
            case ToolStarted():
                self._started(event)
            case ToolFinished():
                self._finished(event)
            case Retried():
                self._forget_reply()
            case TurnEnded():
                self._end({}, "interrupted")
            case _:
                pass
        if notice := self._notice(event):
            self.tell(notice[1], notice[0])

    def _notice(self, event: Event) -> tuple[str, str] | None:
        """What is told of an event. A mode that a key chose waits for the message that it is for: the key has many."""
        match event:
            case Opened(mode=mode) | Switched(mode=mode, by="resume") if mode:
                self._told, self._mode = mode, ""
            case Switched(mode=mode, model="", effort="", by="user") if mode and not self._after_command:
                self._mode = mode
                return None
            case Switched(mode=mode) if mode:
                self._told, self._mode = mode, ""
        return present.notice(event)

    @property
    def _after_command(self) -> bool:
        """Whether a command was given last, which is owed an answer."""
        return bool(self.blocks) and self.blocks[-1].level == "command"

    def tell(self, text: str, level: str = "info") -> None:
        """Add a word of codeagent's own."""
        self._add(Block("notice", clean(text), level=level))

    def left_off(self) -> None:
        """The record ends here, and what was on its way when it broke off will not go on."""
        self._end({"running": present.OUTCOME_UNKNOWN}, present.NOT_RUN)

    def take_changed(self) -> int | None:
        """The lowest index that changed since the last call, None when nothing did."""
        changed, self._changed = self._changed, None
        return changed

    def toggle(self, index: int) -> None:
        """Unfold or fold one block."""
        block = self.blocks[index]
        if block.kind in ("call", "thinking", "said"):
            block.fold = "closed" if block.fold == "open" else "open"
            self._touch(index)

    def fold_all(self, fold: Fold) -> None:
        """Unfold or fold everything that can be."""
        for index, block in enumerate(self.blocks):
            if block.kind in ("call", "thinking"):
                block.fold = fold
                self._touch(index)

    # -- replies -------------------------------------------------------------------------------

    def _begin_reply(self) -> None:
        self._reply_at = len(self.blocks)
        self._heard: list[tuple[str, StringIO]] = []
        self._record = ""
        self._carry = ""
        self._splitter = Splitter()

    def _forget_reply(self) -> None:
        if self._heard:
            del self.blocks[self._reply_at :]
            self._touch(self._reply_at)
            self._calls = {use: at for use, at in self._calls.items() if at < self._reply_at}
        self._begin_reply()

    def _stream(self, kind: Literal["words", "thinking"], text: str) -> None:
        if not self._heard or self._heard[-1][0] != kind:
            self._settle()
            self._heard.append((kind, StringIO()))
        self._heard[-1][1].write(text)
        text = self._carry + text
        self._carry = "\r" if text.endswith("\r") else ""
        text = clean(text.removesuffix("\r"))
        if kind == "thinking":
            live = self._live(kind)
            live.text += text
            self._touch_last()
            return
        for part in self._splitter.feed(text):
            self._close_live(part)
        if (tail := self._splitter.tail).strip():
            live = self._live(kind)
            live.text, live.code = tail, self._splitter.in_code
            self._touch_last()

    def _live(self, kind: Kind) -> Block:
        if self.blocks and self.blocks[-1].live and self.blocks[-1].kind == kind:
            return self.blocks[-1]
        return self._add(Block(kind, live=True))

    def _close_live(self, part: str) -> None:
        live = self._live("words")
        live.text, live.live, live.code = part, False, False
        self._touch_last()

    def _settle(self) -> None:
        """What streamed last is complete."""
        for part in self._splitter.finish():
            self._close_live(part)
        self._splitter = Splitter()
        if self.blocks and self.blocks[-1].live:
            self.blocks[-1].live = False
            self._touch_last()

    def _writing(self, event: CallDelta) -> None:
        if event.use_id not in self._calls:
            self._settle()
            self._heard.append(("call", StringIO(event.use_id)))
            self._add_call(Call(event.use_id, clean_line(event.name)))
        index = self._calls[event.use_id]
        if call := self.blocks[index].call:
            call.received = event.received
            self._touch(index)

    def _reply(self, event: AssistantSaid) -> None:
        said = [
            ("call", b.id) if isinstance(b, ToolUse) else ("words" if isinstance(b, Text) else "thinking", b.text)
            for b in event.blocks
            if isinstance(b, ToolUse) or (isinstance(b, Text | Thinking) and b.text)
        ]
        references = len(event.text) < WHOLE and _REFERENCE.search(event.text) is not None
        if said != [(kind, text.getvalue()) for kind, text in self._heard] or references:
            self._forget_reply()
        self._settle()
        fresh = not self._heard
        for block in event.blocks:
            match block:
                case Text(text=text) if fresh and text.strip():
                    self._add(Block("words", clean(text).strip("\n"), whole=references))
                case Thinking(text=text) if fresh and text.strip():
                    self._add(Block("thinking", clean(text).strip()))
                case ToolUse():
                    self._announced(block)
                case _:
                    pass
        if event.cut:
            self.tell(f"The call of {', '.join(event.cut)} was cut off and not made.", "warning")
        self._begin_reply()

    def _announced(self, use: ToolUse) -> None:
        if use.id not in self._calls:
            self._add_call(Call(use.id, clean_line(use.name)))
        index = self._calls[use.id]
        if call := self.blocks[index].call:
            call.label, call.state = label_of(use), "waiting"
            self._touch(index)

    def _end(self, outcomes: Mapping[str, str], otherwise: str) -> None:
        """Nothing runs any more: calls without a result get the outcome for the state that they were in."""
        self._settle()
        if self._record.strip() and not self._heard:
            self._add(Block("words", clean(self._record).strip("\n")))
        for use_id in list(self._calls):
            index = self._calls.pop(use_id)
            call = self.blocks[index].call
            if call and call.state != "finished":
                call.state, call.outcome = "finished", outcomes.get(call.state, otherwise)
                self._touch(index)
        self._begin_reply()

    # -- people and calls ----------------------------------------------------------------------

    def _user(self, event: UserSaid) -> None:
        text = clean(event.text).strip("\n")
        if pictures := sum(not isinstance(b, Text) for b in event.blocks):
            text = f"{text}\n[{present.count(pictures, 'attachment')}]".strip()
        if self._mode and self._mode != self._told:
            self.tell(f"mode: {self._mode}")
            self._told = self._mode
        self._mode = ""
        self._add(Block("said", text, fold="peek"))

    def _find(self, use_id: str, name: str) -> tuple[int, Call]:
        if use_id not in self._calls:
            self._add_call(Call(use_id, clean_line(name)))
        index = self._calls[use_id]
        call = self.blocks[index].call
        assert call is not None
        return index, call

    def _decided(self, event: Decided) -> None:
        index, call = self._find(event.use_id, event.tool)
        call.decided = event
        call.label = call.label or clean_line(event.title)
        self._touch(index)
        if event.decision == "allow" and event.words:
            self.tell(f"You added: {event.words}")

    def _started(self, event: ToolStarted) -> None:
        index, call = self._find(event.use_id, event.tool)
        call.state, call.label, call.view = "running", clean_line(event.label), event.view
        self._touch(index)

    def _progress(self, event: ToolProgress) -> None:
        if event.use_id in self._calls:
            index, call = self._find(event.use_id, "")
            call.output = (call.output + event.text)[-OUTPUT_KEPT:]
            self._touch(index)

    def _finished(self, event: ToolFinished) -> None:
        index, call = self._find(event.use_id, event.tool)
        call.state, call.outcome, call.took_ms = "finished", event.outcome, event.took_ms
        call.summary = clean_line(event.summary)
        call.view = event.view or call.view
        call.output = "\n".join(b.text for b in event.blocks if isinstance(b, Text)) if event.view is None else ""
        if event.is_error and event.outcome == "done":
            call.outcome = "failed"
        if isinstance(call.view, Todo) and call.outcome == "done":
            self.todo = call.view
        shown = call.outcome in ("failed", "timeout") or (isinstance(call.view, Diff) and call.outcome == "done")
        shown = shown or event.use_id.startswith(OWN)
        self.blocks[index].fold = "peek" if shown else self.blocks[index].fold
        self._touch(index)

    # -- the list ------------------------------------------------------------------------------

    def _add_call(self, call: Call) -> None:
        self._calls[call.use_id] = len(self.blocks)
        self._add(Block("call", call=call))

    def _add(self, block: Block) -> Block:
        before = self.blocks[-1] if self.blocks else None
        joined = before is not None and before.kind == block.kind and block.kind in ("call", "notice")
        block.gap = before is not None and (not joined or block.level == "command")
        self.blocks.append(block)
        self._touch(len(self.blocks) - 1)
        return block

    def _touch(self, index: int) -> None:
        if index < len(self.blocks):
            self.blocks[index].version += 1
        self._changed = index if self._changed is None else min(index, self._changed)

    def _touch_last(self) -> None:
        self._touch(len(self.blocks) - 1)
