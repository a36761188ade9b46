"""One open session with everything around it, and the way to others: what fronts know as the desk."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from codeagent import __version__
from codeagent.core.agent import Agent, Outside
from codeagent.core.conversation import parameters
from codeagent.core.effects import AskTrust
from codeagent.core.errors import ModelError, ModelUnavailable, UsageFault
from codeagent.core.events import FORMAT, Entry, Noted, Opened, Switched
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.listed import Listed, ListedJob, ListedSetting
from codeagent.core.ports import Front, Model, Tool
from codeagent.core.seen import Seen
from codeagent.core.subagents import Parent
from codeagent.core.toolset import Toolset
from codeagent.core.unfinished import unfinished
from codeagent.core.withheld import Withheld
from codeagent.host import desktop
from codeagent.host.clock import RandomIds, SystemClock, session_id
from codeagent.host.jobs import Jobs, end_leftovers
from codeagent.host.workspace import Workspace
from codeagent.models.choice import NO_KEY, Choice, is_local, resolve, with_substitutes
from codeagent.options import Options
from codeagent.sessions import index, store
from codeagent.sessions.load import Loaded
from codeagent.wiring import preferences, tooling
from codeagent.wiring.background import Background, end_orphans
from codeagent.wiring.crew import Bench, crew
from codeagent.wiring.ground import Ground
from codeagent.wiring.keeper import Keeper
from codeagent.wiring.names import Names
from codeagent.wiring.remembering import Shelf

RESTARTED_MODES = ("plan", "bypass")
"""Modes that a resumed session does not come back in."""


class House:
    """Implements fronts.desk.Desk."""

    agent: Agent
    _parent: Parent
    """What the agent lends to sub-agents."""

    def __init__(
        self,
        options: Options,
        ground: Ground,
        front: Front,
        *,
        pace: float = 0,
        headless: bool = False,
        model: Model | None = None,
        tools: Sequence[Tool[Any]] = (),
    ) -> None:
        self._options, self._ground, self._front, self._headless = options, ground, front, headless
        self._further = tools
        self._clock = SystemClock()
        raw = options.include_partial_messages
        self._choice = Choice(lambda: self._ground.access, pace=pace, raw=raw, record=ground.recording, given=model)
        self._keeper = Keeper(None, self._clock.now)
        self._background = Background()
        self._names = Names(ground.files)
        self._named = ""
        self.began = 0
        """How many entries of the journal are older than this run."""

    def connect(self, *, key: str = "", model: str = "", keep_key: bool = False) -> None:
        """Open the session that the options ask for. Raises CodeagentError with words for a person."""
        if key:
            self._ground.use_key(key, keep=keep_key)
        end_orphans()
        self._named = model or self._options.model
        self._enter()

    def _enter(self) -> None:
        named = self._named
        log = self._asked_for()
        if log is None:
            self._begin(resolve(named or self._ground.model))
        else:
            self._resume(log, resolve(named) if named else "")

    def _asked_for(self) -> Path | None:
        """The log to go on with, None for a new session."""
        options, directory = self._options, self._ground.sessions
        if options.continue_:
            seal = b"" if options.trust else self._ground.seal
            last = index.latest(directory, options.print, seal, self._ground.consent.believes)
            if last is None:
                raise UsageFault(f"There is no session of {self.project} to continue. Start one: codeagent")
            return Path(last.path)
        if options.resume:
            return Path(index.find(directory, options.resume).path)
        if options.resume is not None and self._headless:
            raise UsageFault("Say which session: codeagent -p -r ID. To list them: codeagent sessions list")
        return None

    def _begin(self, model: str) -> None:
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
        self._settle(keeper, (), [opened, *ground.opening_notes()], workspace, tools)
        if options.name:
            self.agent.rename(options.name)

    def _resume(self, path: Path, model: str) -> None:
        if self._options.fork_session:
            new = self._options.session_id or session_id(self._clock.now())
            path = store.fork(path, new, key=self._ground.seal)
        log, loaded = store.Log.open(path, self._clock.now, self._ground.seal)
        with ExitStack() as refused:
            refused.callback(log.close)  # so that the next try finds it free
            self._go_on(path, log, loaded, model)
            refused.pop_all()

    def _go_on(self, path: Path, log: store.Log, loaded: Loaded, model: str) -> None:
        entries = loaded.entries
        self._usable(model or parameters(entries).model)
        told = (*loaded.notices, *_left_open(entries, path.stem))
        fresh = [Noted(words, to="person", topic="session", level="warning") for words in told]
        workspace = self._workspace(path.stem, entries)
        tools = self._tools(workspace, path.stem)
        news: list[Entry] = [*fresh, *self._switches(entries, model), *self._ground.reopening_notes(entries)]
        self._settle(Keeper(path, self._clock.now, log), entries, news, workspace, tools)

    def _switches(self, entries: Sequence[Entry], model: str) -> Iterable[Switched]:
        """A resumed session keeps its mode and model, unless the command line says otherwise."""
        now = parameters(entries)
        mode = self._ground.mode if self._options.permission_mode else ""
        if not mode and now.mode in RESTARTED_MODES:
            mode = "default"
        if mode and mode != now.mode:
            yield Switched(mode=mode, by="resume")
        if model and model != now.model:
            yield Switched(model=model, max_tokens=self._choice.info(model).first_room, by="resume")

    def _usable(self, model: str) -> None:
        """Raises ModelUnavailable when there is no key for it, UsageFault for a script that cannot be read."""
        if not is_local(model) and not self._ground.access.key:
            raise ModelUnavailable(NO_KEY, category="authentication_failed")
        try:
            self._choice.info(model)
        except ModelError as fault:
            raise UsageFault(str(fault)) from None

    # --- building ---

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
    ) -> None:
        """An agent over these entries; the fresh ones are on record before the front watches."""
        ground, front = self._ground, self._front
        journal = Journal(entries, keeper.append, Withheld(ground.withheld))
        for entry in fresh:
            journal.append(entry)
        journal.watch(workspace.seen.see)
        journal.watch(ground.see)
        gate = Gate(front, journal.append, ground.rules, ground.remember, parameters(journal.entries).mode)
        snapshots = tooling.snapshots(workspace, ground.snapshots, keeper.name)

        def back(entries: Sequence[Entry], tail: Sequence[Entry], room: int) -> tuple[str, ...]:
            from codeagent.wiring.putting_back import PutBack  # once in many sessions

            files = ground.guidelines.files
            return PutBack(workspace.seen, lambda: files, ground.memory_index)(entries, tail, room)

        outside = Outside(self._clock, RandomIds(), front, ground.news, back, ground.compaction(), snapshots)
        model = with_substitutes(self._choice, ground.fallbacks)
        self.agent = Agent(journal, model, tools, gate, ground.limits(), outside)
        self._parent = Parent(
            journal, model, gate, self.agent.valves, self._clock, outside.ids, outside.policy, snapshots
        )
        journal.watch(front.see)
        keeper.watch(self._disk_trouble)
        self._keeper, self.began = keeper, len(entries)

    def _disk_trouble(self, words: str) -> None:
        """Shown and not written: the log is what is in trouble."""
        self._front.see(Noted(words, to="person", topic="session", level="warning"))

    # --- fronts.desk.Desk ---

    def question(self) -> AskTrust | None:
        """What came with the directory and was not shown yet."""
        return None if self._headless else self._ground.consent.question()

    def answer(self, question: AskTrust, *, yes: bool) -> None:
        """Remember the answer; after a yes the session is opened again, on what is in force now."""
        self._ground = self._ground.answered(question, yes=yes)
        if yes:
            self._keeper.close()
            self._enter()

    @property
    def project(self) -> Path:
        """The project's root."""
        return self._ground.project

    @property
    def branch(self) -> str:
        """The git branch, or an empty string."""
        return self._ground.branch

    @property
    def resume_command(self) -> str:
        """What to type to come back to this session, empty when it is not kept."""
        if not self._keeper.kept:
            return ""
        place = "" if _is_here(self._ground.project) else f" --cwd {shlex.quote(str(self._ground.project))}"
        return f"codeagent -r {self._keeper.name}{place}"

    @property
    def memory(self) -> Shelf:
        """What outlives sessions."""
        return self._ground.shelf

    @property
    def history(self) -> Path | None:
        """Where what was typed in this project is kept, None for a session that is not kept."""
        return None if self._options.no_session_persistence else self._ground.history

    @property
    def sandbox(self) -> str:
        """Whether commands run within walls."""
        return self._background.sandbox

    @property
    def theme(self) -> str:
        """As set."""
        return str(self._ground.settings["theme"])

    def setting(self, name: str) -> Any:
        """As set; the editor also from VISUAL and EDITOR."""
        value = self._ground.settings[name]
        return value or self._ground.settings.environment.editor if name == "editor" else value

    def settings(self) -> Sequence[ListedSetting]:
        """All settings that are no lists, with where they come from."""
        return preferences.listed(self._ground.settings)

    def keep_setting(self, name: str, value: object) -> str:
        """Write a setting into the user's own file."""
        return preferences.keep(self._ground.settings, name, value)

    async def picture(self) -> bytes:
        """The picture on the system's clipboard."""
        return await desktop.picture(self._ground.child_env, self.project)

    def edit(self, text: str, editor: str) -> str:
        """The text as it comes back from an editor."""
        return desktop.edit(text, editor, self._ground.child_env, self.project)

    async def status_words(self, command: str, given: Mapping[str, Any]) -> str:
        """What the person's own status command prints."""
        return await desktop.words_of(command, json.dumps(given).encode(), self._ground.child_env, self.project)

    def sessions(self) -> Sequence[Listed]:
        """Sessions of this project, newest first, without the open one."""
        here = self._keeper.name
        return [each for each in index.listed(self._ground.sessions) if each.id != here and not each.headless]

    def open(self, session: str | None) -> None:
        """Go on with another session, or with a new one when None. Raises CodeagentError."""
        old = self._keeper
        if session is None:
            self._begin(self.agent.model)
        else:
            self._resume(Path(index.find(self._ground.sessions, session).path), "")
        old.close()

    def permissions(self, call: str) -> str:
        """The rules in force, or the decision about one call, in words."""
        from codeagent.wiring import permissions
        from codeagent.wiring.sketch import input_of

        tool, _, text = call.partition(" ")
        if not text.strip():
            return permissions.listed(self._ground, self.agent.mode)
        return "\n".join(permissions.why(self._ground, tool, input_of(tool, text.strip()), self.agent.mode))

    def models(self) -> Sequence[tuple[str, str]]:
        """Models that can be switched to: (id, one line about it)."""
        from codeagent.models import catalog

        return catalog.listed()

    def files(self) -> Sequence[str] | None:
        """Project files for completion, as last listed."""
        return self._names()

    def jobs(self) -> Sequence[ListedJob]:
        """Background commands of this session."""
        return self._background.listed()

    def job_output(self, job: str) -> str:
        """What a background command wrote so far."""
        return self._background.output(job)

    async def stop_job(self, job: str) -> None:
        """End a background command."""
        await self._background.stop(job)

    def transcript(self, use_id: str) -> Sequence[Entry]:
        """What the sub-agent of a call did. Raises UsageFault when nothing is kept of it."""
        from codeagent.sessions.transcripts import opened

        return opened(self._ground.sessions / f"{self._keeper.name}.jsonl", use_id)

    async def warm(self) -> None:
        """Do what the first request would have to wait for."""
        await self._choice.warm(self.agent.model)

    async def close(self) -> None:
        """End background work, close connections, sync and release the log."""
        try:
            await self._background.close()
            await self._choice.close()
        finally:
            self._keeper.close()


def _left_open(entries: Sequence[Entry], session: str) -> Iterable[str]:
    """What a killed run left behind, in words; what still runs of it is ended first."""
    for call in unfinished(entries):
        yield (
            f"The last run was cut off while {call.tool} ran ({call.label}). Whether it took effect is unknown; "
            "the model is told so, and nothing is repeated."
        )
    if left := end_leftovers(session):
        yield f"Still running from the last run, now ended: {', '.join(left)}."


def _is_here(project: Path) -> bool:
    """Whether the shell that started the program stands in the project."""
    with contextlib.suppress(OSError):
        return Path.cwd() == project
    return False
