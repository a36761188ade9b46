"""Prints a session's events as they happen, or later from its journal: the same code for both."""

from __future__ import annotations

from collections.abc import Iterable

from codeagent.core.call_events import OWN
from codeagent.core.events import (
    AssistantSaid,
    CallDelta,
    Decided,
    Event,
    Heard,
    Queued,
    Retried,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Image, ToolUse
from codeagent.core.views import Diff, Todo
from codeagent.fronts import calls, present
from codeagent.fronts.repl.paper import Paper
from codeagent.fronts.repl.splitter import Splitter

LAST = 8
"""Lines of output shown of a call that failed."""
MOST = 200
"""Lines of output shown of a command that the person ran."""


class Printer:
    """`see` prints one event. Roles are words, so that nothing depends on colour."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._splitter = Splitter()
        self._heard = False
        self._on_record = ""
        self._speaking = False
        self._thinking = False
        self._typed = ""
        self._uses: dict[str, ToolUse] = {}
        self._started: set[str] = set()
        self._begun: set[str] = set()
        """Those of them whose beginning was printed."""
        self._at_work: dict[str, str] = {}
        """Labels of the sub-agents that work, by call."""
        self._shown: set[str] = set()
        self._declined: dict[str, str] = {}
        """What a person said to calls that they did not allow."""

    def typed(self, text: str) -> None:
        """The person's next words stand on the paper already: do not print them again."""
        self._typed = text

    def was_shown(self, use_id: str) -> None:
        """A question showed what this call would change: do not print it again."""
        self._shown.add(use_id)

    def see(self, event: Event) -> None:
        """Print what a person should know of this event."""
        match event:
            case TextDelta(text=text):
                self._hear(text)
            case ThinkingDelta() if not self._thinking:
                self._thinking = True
                self._silence()
                self._paper.line("(thinking)", "muted")
            case Heard(text=text, thinking=False) if not self._heard:
                self._on_record += text
            case CallDelta():
                self._flush()
            case AssistantSaid():
                self._said(event)
            case UserSaid():
                self._user(event)
            case Queued(withdrawn=False, text=text, when=when):
                self._paper.line(f"(kept for {'the next step' if when == 'step' else 'the end of the turn'}: {text})")
            case Queued(text=text):
                self._paper.line(f"(taken back: {text})", "muted")
            case ToolStarted():
                self._begins(event)
            case ToolProgress(use_id=use_id, text=text):
                self._step(use_id, text)
            case ToolFinished():
                self._finished(event)
            case _:
                self._notice(event)

    # --- the model's words ---

    def _hear(self, text: str) -> None:
        self._heard = True
        self._print(self._splitter.feed(text))

    def _print(self, blocks: Iterable[str]) -> None:
        for block in blocks:
            if not block.strip():
                continue
            self._paper.gap()
            if not self._speaking:
                self._paper.line("codeagent:", "accent")
                self._speaking = True
            self._paper.markdown(block)

    def caught_up(self) -> None:
        """Print the words of a reply that was cut off with the program: nothing else follows of it."""
        if self._on_record:
            words, self._on_record = self._on_record, ""
            self._print([*self._splitter.feed(words), self._splitter.rest()])
            self._silence()
            self._paper.line("(cut off here)", "muted")

    def left_off(self) -> None:
        """The record ends here: tell what was on its way when it broke off and will not go on."""
        self.caught_up()
        for use in self._uses.values():
            told = present.OUTCOME_UNKNOWN if use.id in self._started else present.NOT_RUN
            self._paper.line(f"  {use.name}  {calls.subject(use)}: {told}", "warning")
        self._uses.clear()

    def _flush(self) -> None:
        self._print([self._splitter.rest()])

    def _said(self, said: AssistantSaid) -> None:
        """The whole reply: what streamed is on paper already, but for the open tail."""
        self._on_record = ""
        if not self._heard:
            self._print([*self._splitter.feed(said.text)])
        self._flush()
        self._heard = self._thinking = False
        self._uses.update({use.id: use for use in said.uses})
        self._silence()

    def _silence(self) -> None:
        """Whoever speaks next says who it is."""
        self._flush()
        self._speaking = False

    # --- the person's words ---

    def _user(self, said: UserSaid) -> None:
        self.caught_up()
        self._silence()
        text = said.text
        pictures = sum(isinstance(block, Image) for block in said.blocks)
        if self._typed != text or said.queued:
            self._paper.gap()
            self._paper.line(f"you: {text}" + (f" [{present.count(pictures, 'picture')}]" if pictures else ""))
        self._typed = ""

    # --- tools ---

    def _begins(self, started: ToolStarted) -> None:
        """Calls that may take long or change things are told when they begin; quick ones only when they end."""
        self._started.add(started.use_id)
        if started.risk > 1 or started.tool in ("bash", "task"):
            self._silence()
            self._begun.add(started.use_id)
            if started.tool == "task":
                self._at_work[started.use_id] = started.label
            self._paper.line(f"  {started.tool}  {calls.bounded(started.label, self._paper.width - 12)}")

    def _step(self, use_id: str, told: str) -> None:
        """What a sub-agent does now; several may be at work."""
        if use_id in self._at_work:
            self._silence()
            about = calls.bounded(f"{self._at_work[use_id]}: {told.rstrip()}", self._paper.width - 4)
            self._paper.line(f"    {about}", "muted")

    def _finished(self, done: ToolFinished) -> None:
        self._silence()
        failed = done.is_error or done.outcome != "done"
        told = self._declined.pop(done.use_id, "") or calls.outcome(done)
        if done.took_ms >= 1000 and not told.endswith(" s"):  # some summaries tell the time themselves
            told = f"{told}, {present.seconds(done.took_ms)}"
        if done.use_id in self._at_work:
            told = f"{self._at_work.pop(done.use_id)}: {told}"
        if done.use_id in self._begun:
            self._paper.line(f"    {told}", "error" if failed else "muted")
        else:
            use = self._uses.get(done.use_id)
            about = calls.subject(use, max(20, self._paper.width - len(told) - 12)) if use else ""
            self._paper.line(f"  {done.tool}  {about}: {told}" if about else f"  {done.tool}: {told}")
        if isinstance(done.view, Todo):
            for line in calls.todo(done.view):
                self._paper.line(f"    {line}")
        elif isinstance(done.view, Diff) and done.use_id not in self._shown:
            for role, line in calls.diff(done.view):
                self._paper.line(f"    {line}", role)
        elif done.tool == "bash" and done.view and done.use_id.startswith(f"{OWN}_"):  # the person's own command
            for role, line in list(calls.view(done.view, MOST))[1:]:
                self._paper.line(f"    | {line}", role)
        elif failed and done.view and done.outcome != "refused":
            for role, line in list(calls.view(done.view, LAST))[-LAST - 1 :]:
                self._paper.line(f"    | {line}", role)
        self._uses.pop(done.use_id, None)

    # --- the rest ---

    def _notice(self, event: Event) -> None:
        if isinstance(event, Decided) and (event.decision, event.by) == ("deny", "dialog"):
            no = f"{event.who or 'you'} said no"
            self._declined[event.use_id] = f"{no}: {event.words}" if event.words else no
        worded = present.notice(event)
        if isinstance(event, Retried):
            self._splitter.rest()
            self._heard, self._on_record = False, ""
        if isinstance(event, TurnEnded):
            self.caught_up()
            self._uses.clear()
        if worded is None or not worded[1]:
            return
        self._silence()
        level, words = worded
        self._paper.gap()
        self._paper.line(words if level == "info" else f"{level}: {words}", level)
