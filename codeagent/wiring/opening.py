"""A session made ready: begun anew or taken up again, an agent with its tools, gate and log around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from codeagent import __version__
from codeagent.core.agent import Agent, Outside
from codeagent.core.conversation import parameters
from codeagent.core.errors import ModelError, ModelUnavailable, UsageFault
from codeagent.core.events import FORMAT, Entry, Noted, Opened, Recalled, Switched
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.ports import Front, Tool
from codeagent.core.seen import Seen
from codeagent.core.subagents import Parent
from codeagent.core.toolset import Toolset
from codeagent.core.withheld import Withheld
from codeagent.host.clock import RandomIds, SystemClock, session_id
from codeagent.host.jobs import Jobs
from codeagent.host.workspace import Workspace
from codeagent.models.choice import Choice, is_local, keyless, with_substitutes
from codeagent.options import Options
from codeagent.sessions import store
from codeagent.sessions.load import Loaded, foreign_digest
from codeagent.wiring import coming_back, tooling
from codeagent.wiring.background import Background
from codeagent.wiring.crew import Bench, crew
from codeagent.wiring.ground import Ground
from codeagent.wiring.keeper import Keeper

NOT_AGAIN = "This session was left in mode bypass, where nothing is asked. It goes on in mode default."


class Session(NamedTuple):
    """An open session; `began` is how many entries of its journal are older than this run."""

    agent: Agent
    keeper: Keeper
    began: int


class Opening:
    """Makes one session: its tools look back at its agent. Raises CodeagentError with words for a person."""

    agent: Agent
    _parent: Parent
    """What the agent lends to sub-agents."""

    def __init__(
        self,
        options: Options,
        ground: Ground,
        front: Front,
        choice: Choice,
        background: Background,
        *,
        headless: bool,
        further: Sequence[Tool[Any]],
    ) -> None:
        self._options, self._ground, self._front, self._headless = options, ground, front, headless
        self._choice, self._background, self._further = choice, background, further
        self._clock = SystemClock()

    def begin(self, model: str) -> Session:
        """A new session."""
        self._usable(model)
        options, ground = self._options, self._ground
        name = options.session_id or session_id(self._clock.now())
        path = None if options.no_session_persistence else ground.sessions / f"{name}.jsonl"
        if path is not None and path.exists():
            raise UsageFault(f"There is a session {name} already. Continue it: codeagent -r {name}")
        workspace = self._workspace(name, ())
        tools = self._tools(workspace, name)
        opened = Opened(
            session=name,
            cwd=str(ground.project),
            system=ground.system_prompt(),
            tools=tools.schemas(),
            model=model,
            max_tokens=self._choice.info(model).first_room,
            effort=ground.effort,
            mode=ground.mode,
            cache="5m" if self._headless else "1h",
            branch=ground.branch,
            headless=self._headless,
            codeagent=__version__,
            format=FORMAT,
        )
        keeper = Keeper(path, self._clock.now, ready=ground.make_ready, key=ground.seal)
        notes = (*self._unfit(model, opened.effort), *ground.opening_notes(), *self._orders(model))
        begun = self._settle(keeper, (), [opened, *notes], workspace, tools)
        if options.name:
            begun.agent.rename(options.name)
        return begun

    def _unfit(self, model: str, effort: str) -> Iterable[Entry]:
        """A level of effort from the command line that the model has not is told; one from settings is for others."""
        if self._options.effort and (why := self._choice.info(model).unfit(effort)):
            words = f"{why} --effort changes nothing here."
            yield Noted(words, to="person", topic="model", level="warning")

    def _orders(self, model: str) -> Iterator[Noted]:
        """What the stand-in understands, for a person who is about to type."""
        if model == "offline" and not self._headless:
            from codeagent.models.offline import HINT

            yield Noted(HINT, to="person", topic="offline")

    def resume(self, path: Path, model: str) -> Session:
        """The session of this log, taken up again; with another model where one is named."""
        log, loaded = store.Log.open(path, self._clock.now, self._ground.seal)
        with ExitStack() as refused:
            refused.callback(log.close)  # so that the next try finds it free
            taken_up = self._go_on(path, log, loaded, model)
            refused.pop_all()
        return taken_up

    def _go_on(self, path: Path, log: store.Log, loaded: Loaded, model: str) -> Session:
        entries = loaded.entries
        if not (strange := self._strange(path)):
            self._front.see(Recalled(entries))
        self._usable(model or parameters(entries).model)
        told = (*loaded.notices, *coming_back.left_open(entries, path.stem))
        fresh = [Noted(words, to="person", topic="session", level="warning") for words in told]
        workspace = self._workspace(path.stem, entries)
        tools = self._tools(workspace, path.stem)
        news: list[Entry] = [*fresh, *self._switches(entries, model, strange), *self._ground.reopening_notes(entries)]
        return self._settle(Keeper(path, self._clock.now, log), entries, news, workspace, tools)

    def _strange(self, path: Path) -> bool:
        """Whether another wrote in this log, and the person did not say that it is trusted."""
        key = self._ground.seal
        digest = foreign_digest(path, key) if key and not self._options.trust else ""
        return bool(digest) and not self._ground.consent.believes(path, digest)

    def _switches(self, entries: Sequence[Entry], model: str, strange: bool) -> Iterable[Entry]:
        """A resumed session keeps its mode, model and effort, unless the command line says otherwise.

        Bypass has to be said again, and a strange log sets no mode at all.
        """
        now = parameters(entries)
        mode = self._ground.mode if self._options.permission_mode or strange else ""
        if not mode and now.mode == "bypass":
            mode = "default"
            yield Noted(NOT_AGAIN, to="person", topic="session", level="warning")
        if mode and mode != now.mode:
            yield Switched(mode=mode, by="resume")
        if model and model != now.model:
            yield Switched(model=model, max_tokens=self._choice.info(model).first_room, by="resume")
        if (effort := self._options.effort) and effort != now.effort:
            yield Switched(effort=effort, by="resume")
            yield from self._unfit(model or now.model, effort)

    def _usable(self, model: str) -> None:
        """Raises ModelUnavailable when there is no key for it, UsageFault for a script that cannot be read."""
        if not is_local(model) and not self._ground.access.key:
            raise ModelUnavailable(keyless(model), category="authentication_failed")
        try:
            self._choice.info(model)
        except ModelError as fault:
            raise UsageFault(str(fault)) from None

    # --- its parts ---

    def _workspace(self, name: str, entries: Iterable[Entry]) -> Workspace:
        ground = self._ground
        seen = Seen(entries, str(ground.project))
        return Workspace(
            ground.project, ground.home, ground.sessions / name, ground.child_env, ground.extra_roots, seen
        )

    def _tools(self, workspace: Workspace, name: str) -> Toolset:
        planning = tooling.Planning(lambda: self.agent.mode, lambda mode: self.agent.switch(mode=mode, by="plan"))
        ground = self._ground
        jobs = Jobs(name, self._clock, ground.sandbox(workspace))
        log = None if self._options.no_session_persistence else ground.sessions / f"{name}.jsonl"
        bench = Bench(ground, name, jobs, self._choice, tuple(self._further), self._clock.now, log)
        further = (*self._further, crew(bench, lambda: self._parent))
        tools = tooling.build(workspace, name, ground, self._front, jobs, planning, further)
        self._background.follow(jobs)
        return tools

    def _settle(
        self, keeper: Keeper, entries: Sequence[Entry], fresh: Iterable[Entry], workspace: Workspace, tools: Toolset
    ) -> Session:
        """An agent over these entries; the fresh ones are on record before the front watches."""
        ground, front = self._ground, self._front
        journal = Journal(entries, keeper.append, Withheld(ground.withheld))
        for entry in fresh:
            journal.append(entry)
        journal.watch(workspace.seen.see)
        journal.watch(ground.guidance.see)
        gate = Gate(front, journal.append, ground.rules, ground.remember, parameters(journal.entries).mode)
        snapshots = tooling.snapshots(workspace, ground.snapshots, keeper.name)

        def back(entries: Sequence[Entry], tail: Sequence[Entry], room: int) -> tuple[str, ...]:
            from codeagent.wiring.putting_back import PutBack  # once in many sessions

            files = ground.guidance.guidelines.files
            return PutBack(workspace.seen, lambda: files, ground.memory_index)(entries, tail, room)

        outside = Outside(self._clock, RandomIds(), front, ground.news, back, ground.compaction(), snapshots)
        if self._options.json_schema:
            from codeagent.wiring.answering import shape  # for programs only

            shape(outside, self._options.json_schema)
        model = with_substitutes(self._choice, ground.fallbacks)
        self.agent = Agent(journal, model, tools, gate, ground.limits(), outside)
        self._parent = Parent(
            journal, model, gate, self.agent.valves, self._clock, outside.ids, outside.policy, snapshots
        )
        journal.watch(front.see)
        keeper.watch(self._disk_trouble)
        return Session(self.agent, keeper, len(entries))

    def _disk_trouble(self, words: str) -> None:
        """Shown and not written: the log is what is in trouble."""
        self._front.see(Noted(words, to="person", topic="session", level="warning"))
