"""One open session with everything around it, and the way to others: what fronts know as the desk."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codeagent.core.agent import Agent
from codeagent.core.effects import AskTrust
from codeagent.core.errors import UsageFault
from codeagent.core.events import Entry
from codeagent.core.listed import Finding, Listed, ListedJob, ListedSetting
from codeagent.core.ports import Front, Model, Tool
from codeagent.host import desktop
from codeagent.host.clock import SystemClock, session_id
from codeagent.models.choice import Choice, resolve
from codeagent.options import Options
from codeagent.sessions import index, store
from codeagent.wiring import coming_back, preferences
from codeagent.wiring.background import Background, end_orphans
from codeagent.wiring.ground import Ground
from codeagent.wiring.keeper import Keeper
from codeagent.wiring.names import Names
from codeagent.wiring.opening import Opening, Session
from codeagent.wiring.remembering import Shelf


class House:
    """Implements fronts.desk.Desk."""

    agent: Agent

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
            self._sit(self._opening().begin(resolve(named or self._ground.model)))
        else:
            if self._options.fork_session:
                log = store.fork(log, self._options.session_id or session_id(self._clock.now()), key=self._ground.seal)
            self._sit(self._opening().resume(log, resolve(named) if named else ""))

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

    def _opening(self) -> Opening:
        return Opening(
            self._options,
            self._ground,
            self._front,
            self._choice,
            self._background,
            headless=self._headless,
            further=self._further,
        )

    def _sit(self, session: Session) -> None:
        self.agent, self._keeper, self.began = session.agent, session.keeper, session.began

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
        called = sys.executable, sys.argv[0]
        return coming_back.command(self._keeper.name, self._ground.project, called, self._ground.environ)

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
        settings = self._ground.rulebook.settings
        return settings[name] or settings.environment.editor if name == "editor" else settings[name]

    def settings(self) -> Sequence[ListedSetting]:
        """All settings that are no lists, with where they come from."""
        return preferences.listed(self._ground.rulebook.settings)

    def keep_setting(self, name: str, value: object) -> str:
        """Write a setting into the user's own file, and read it."""
        where = preferences.keep(self._ground.settings, name, value)
        self._ground.rules()
        return where

    async def findings(self) -> Sequence[Finding]:
        """What doctor finds here, but for the terminal, which a front has in use."""
        from codeagent.wiring.findings import Doctor

        return await asyncio.to_thread(lambda: list(Doctor(self._ground).findings()))

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

    def open(self, session: str | None, *, copy: bool = False) -> None:
        """Go on with another session, in a copy of one, or with a new one when None. Raises CodeagentError."""
        old = self._keeper
        if session is None:
            self._sit(self._opening().begin(self.agent.model))
        else:
            path = Path(index.find(self._ground.sessions, session).path)
            log = store.fork(path, session_id(self._clock.now()), key=self._ground.seal) if copy else path
            self._sit(self._opening().resume(log, ""))
        old.close()

    def permissions(self, call: str) -> str:
        """The rules in force, or the decision about one call, in words."""
        from codeagent.wiring import permissions
        from codeagent.wiring.sketch import input_of

        tool, _, text = call.partition(" ")
        if not text.strip():
            return permissions.listed(self._ground, self.agent.mode)
        return "\n".join(permissions.why(self._ground, tool, input_of(tool, text.strip()), self.agent.mode, "/mode"))

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
