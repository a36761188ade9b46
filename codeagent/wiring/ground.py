"""What a session stands on: project, settings, rules, guidelines, key and directories."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from codeagent.core.compaction import Policy
from codeagent.core.effects import AskTrust
from codeagent.core.errors import SessionError, UsageFault
from codeagent.core.events import Entry, Noted
from codeagent.core.modes import MODES, mode_named
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Rules
from codeagent.core.valves import Limits
from codeagent.host import git
from codeagent.host.environment import child_environment, named_secrets
from codeagent.host.sandbox import Sandbox
from codeagent.host.workspace import Workspace
from codeagent.memory import instructions, prompt, seal
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics
from codeagent.models.choice import Access, resolve
from codeagent.options import Options
from codeagent.sessions import index
from codeagent.settings import Environment, Settings
from codeagent.trust import Trust
from codeagent.wiring import brought, given
from codeagent.wiring.consent import Consent
from codeagent.wiring.guidance import Guidance
from codeagent.wiring.own_agents import OwnAgents
from codeagent.wiring.own_tools import OwnTools
from codeagent.wiring.remembering import Shelf
from codeagent.wiring.rulebook import Rulebook
from codeagent.wiring.walls import walls

NOWHERE = Path("/dev/null")
"""A project and a home in which nothing can be found: for `--bare`."""


class Ground:
    """Reads the disk when made, and rules again when they changed. Raises UsageFault for what cannot be used."""

    def __init__(self, options: Options, environ: Mapping[str, str], home: Path) -> None:
        self._options, self._environ, self.home = options, environ, home
        self.project = given.project(options.cwd)
        state = Environment.of(environ, home).state_home
        self._state = state
        self.bare = options.bare
        trust = Trust(state)
        self.consent = Consent(self.project, trust, lambda: brought.everything(self), given=options.trust)
        project, own = (NOWHERE, NOWHERE) if options.bare else (self.project, home)
        overlay, sources = given.overlay(options), given.sources(options.setting_sources)

        def load() -> Settings:
            return Settings.load(project, own, environ, overlay, self.consent.covers, sources=sources)

        self.layout = Layout(self.project)
        self.own_tools = OwnTools(NOWHERE if options.bare else self.layout.tools, self.consent.content)
        self.rulebook = Rulebook(
            load,
            Anchors(str(self.project), str(home), str(self.project)),
            self.project,
            trust,
            strict=not options.permission_mode,
            tools=self.own_tools.names,
        )
        self.settings = self.rulebook.settings
        config = self.settings.environment.config_home
        self.own_agents = OwnAgents(project, NOWHERE if options.bare else config, self.consent.content)
        for own_kind in (self.own_tools, self.own_agents):
            for words in own_kind.problems:
                self.rulebook.complain(words)
        guidelines = instructions.load(project, own, NOWHERE if options.bare else config, project)
        self.guidance = Guidance(guidelines, self.project, home, nested=not options.bare)
        self.branch = git.branch(self.project)
        self.sessions = index.sessions_dir(self.project, state, index.writable(self.project))
        self._key = ""
        self.seal = self._own_seal()
        self.shelf = Shelf(
            self.layout,
            self.seal,
            self.sessions,
            environ,
            lambda on: self.rulebook.switch("memory", on=on),
            on=bool(self.settings["memory"]),
            believed=lambda lines: self.consent.believes(self.layout.index, brought.digest_of_lines(lines)),
        )

    def _own_seal(self) -> bytes:
        """The key that tells our own logs and memory from a repository's; empty where none can be kept."""
        try:
            return seal.key(self._state)
        except OSError as fault:
            self.rulebook.complain(f"What codeagent writes here cannot be sealed: {fault}.")
            return b""

    # --- the model ---

    @property
    def access(self) -> Access:
        """Key and address of the Messages API; the keyring is asked only when the environment has no key."""
        environment = self.settings.environment
        if not self._key:
            self._key = environment.api_key or environment.auth_token
        if not self._key:
            from codeagent.host.keys import stored_key

            self._key = stored_key()
        plain = bool(self._environ.get("CODEAGENT_PLAIN_SDK"))
        return Access(self._key, self.settings.base_url, environment.headers, plain)

    def use_key(self, key: str, *, keep: bool) -> None:
        """Use a key that was typed; with `keep` also next time, if there is a keyring. Where none is, that was said."""
        self._key = key
        if keep:
            from codeagent.host.keys import keep_key, keyring_works

            if keyring_works() and not keep_key(key):
                self.rulebook.complain("The keyring did not take the key. It holds for this session.")

    @property
    def model(self) -> str:
        """The model that the settings name, as written there."""
        return str(self.settings["model"])

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Models to ask, in order, when the first cannot answer."""
        named = self._options.fallback_model or str(self.settings["fallbackModel"])
        return tuple(resolve(name) for name in named.replace(",", " ").split())

    @property
    def effort(self) -> str:
        """The effort wanted, empty for the model's own."""
        return self._options.effort or str(self.settings["effort"])

    @property
    def recording(self) -> Path | None:
        """A file that gets what the model says, as a script."""
        name = self._environ.get("CODEAGENT_RECORD", "")
        return Path(name) if name else None

    # --- permissions and limits ---

    @property
    def mode(self) -> str:
        """The permission mode to start in."""
        wanted = self._options.permission_mode
        if not wanted:
            return self.settings.mode
        named = mode_named(wanted)
        if not named:
            raise UsageFault(f"There is no permission mode {wanted!r}. The modes are: {', '.join(MODES)}.")
        return named

    @property
    def trusted(self) -> bool:
        """Whether the settings that lie in the project count."""
        return self.consent.covers(self.rulebook.settings.brought)

    def answered(self, question: AskTrust, *, yes: bool) -> Ground:
        """The same ground after the answer, read anew. A yes that cannot be kept holds for this run."""
        options = self._options
        try:
            self.consent.keep(question, yes=yes)
        except OSError:
            options = msgspec.structs.replace(options, trust=yes)
        ground = Ground(options, self._environ, self.home)
        ground._key = self._key
        return ground

    @property
    def environ(self) -> Mapping[str, str]:
        """The process environment as it was given."""
        return self._environ

    def rules(self) -> Rules:
        """The rules in force, as the files say now."""
        return self.rulebook.rules()

    def remember(self, rule: str) -> str:
        """Store an allow rule; where it stands."""
        return self.rulebook.remember(rule)

    def tool_names(self, known: list[str]) -> set[str]:
        """The tools to offer: `--tools` names them, a bare name in `--disallowed-tools` takes one away."""
        from codeagent.wiring.tooling import named

        hidden = {name.lower() for name in self._options.disallowed_tools if "(" not in name}
        wanted = "default" if self._options.tools is None else self._options.tools
        return named(wanted, known) - hidden

    def limits(self) -> Limits:
        """Where the valves stand."""
        options, settings, usual = self._options, self.settings, Limits()
        return Limits(
            steps=options.max_turns or settings["maxTurns"] or usual.steps,
            tokens=options.max_tokens_total or settings["maxTokensTotal"] or usual.tokens,
            dollars=options.max_budget_usd or settings["maxBudgetUsd"],
            seconds=options.max_seconds or settings["maxSeconds"],
        )

    def compaction(self) -> Policy:
        """When to sum up."""
        settings = self.settings
        return Policy(
            auto=settings["compaction.auto"],
            share=settings["compaction.threshold"] or 1.0,
            reserve=settings["compaction.reserve"],
            keep=settings["compaction.keep"],
        )

    # --- directories and children ---

    @property
    def extra_roots(self) -> tuple[Path, ...]:
        """Further directories that count as inside. Raises UsageFault for one that is not there."""
        roots = []
        for name in (*self._options.add_dir, *(str(each.value) for each in self.settings.directories)):
            path = (self.project / Path(name).expanduser()).resolve()
            if not path.is_dir():
                raise UsageFault(f"--add-dir {name}: there is no such directory.")
            roots.append(path)
        return tuple(roots)

    @property
    def child_env(self) -> dict[str, str]:
        """The environment of commands, without our secrets."""
        return child_environment(self._environ, self.secrets)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The credentials that we hold."""
        environment = self.settings.environment
        return tuple(each for each in (environment.api_key, environment.auth_token, self._key) if each)

    def sandbox(self, workspace: Workspace) -> Sandbox | None:
        """The walls for commands, None where they are not wanted. Raises UsageFault where they must be and cannot."""
        return walls(workspace, self.settings, self._state / "codeagent", required=self._options.require_sandbox)

    @property
    def withheld(self) -> tuple[str, ...]:
        """What no log, screen or model gets to see: our credentials, and others in the environment."""
        return (*self.secrets, *named_secrets(self._environ))

    def make_ready(self) -> None:
        """Make `.agent/` with its `.gitignore` before the first session is kept in it."""
        if self.sessions.parent == self.layout.agent:
            try:
                self.layout.ensure()
            except OSError as fault:
                raise SessionError(f"The session cannot be kept in {self.sessions}: {fault}.") from None

    @property
    def history(self) -> Path:
        """What was typed in this project, for the fronts' history."""
        return self.sessions.parent / "history.jsonl"

    @property
    def snapshots(self) -> Path:
        """Where what files held is kept for a rewind."""
        return self.sessions.parent / "snapshots"

    def files(self) -> Sequence[str]:
        """Project files for completion, ignore rules applied. Takes a while: call it in a thread."""
        import asyncio

        from codeagent.host.listing import Lister

        return asyncio.run(Lister(self.project, self.child_env).files(self.project)).paths

    # --- what the model is told ---

    def system_prompt(self) -> tuple[str, ...]:
        """The system prompt of a new session: frozen from then on."""
        options = self._options
        return prompt.compose(
            self.guidance.guidelines,
            self.memory_index(),
            self._surroundings(),
            options.system_prompt,
            options.append_system_prompt,
        )

    def memory_index(self) -> str:
        """The memory's index for the prompt; one that cannot be read is named, and the session begins without it."""
        try:
            return self.shelf.index() if self.shelf.on and not self._options.bare else ""
        except UsageFault as fault:
            self.tell(str(fault))
            return ""

    def task_prompt(self, own: str) -> tuple[str, ...]:
        """The system prompt of a sub-agent: its own words, then guidelines and surroundings."""
        return prompt.compose(self.guidance.guidelines, "", self._surroundings(), own)

    def tell(self, problem: str) -> None:
        """Something that the person is told with the opening notes."""
        self.rulebook.complain(problem)

    def opening_notes(self) -> Iterator[Noted]:
        """What a person is told at the start of a session: guidelines in force, what the settings could not give."""
        yield self.guidance.in_force()
        yield from self._warnings()

    def reopening_notes(self, entries: Sequence[Entry]) -> Iterator[Noted]:
        """What changed since this session was left."""
        yield from self.guidance.since(entries)
        yield from self._warnings()

    def news(self) -> Iterator[Noted]:
        """Settings broken by now, guidelines that changed or came into force by what was read; before each step."""
        self.rulebook.rules()
        for words in self.rulebook.problems():
            yield Noted(words, to="person", topic="settings", level="warning")
        yield from self.guidance.news()

    def notebook(self, session: str) -> Topics:
        """The memory that the `memory` tool reads and writes."""
        return self.shelf.topics(session)

    def _surroundings(self) -> prompt.Surroundings:
        today = time.strftime("%Y-%m-%d")
        extra = tuple(str(path) for path in self.extra_roots)
        return prompt.Surroundings(str(self.project), platform.system(), today, self.branch, extra)

    def _warnings(self) -> Iterator[Noted]:
        for words in (*self.rulebook.problems(), *self.guidance.guidelines.problems, *self.consent.notes()):
            yield Noted(words, to="person", topic="settings", level="warning")
        if self.sessions.parent != self.layout.agent:
            words = f"The project has no place for a log; sessions are kept in {self.sessions}."
            yield Noted(words, to="person", topic="session", level="warning")
