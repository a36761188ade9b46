"""Sub-agents of a session, each with its journal, tools, system prompt and transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from codeagent import __version__
from codeagent.core.conversation import digest, parameters
from codeagent.core.errors import ModelError, ToolFault
from codeagent.core.events import FORMAT, Entry, Noted, Opened
from codeagent.core.journal import Journal
from codeagent.core.ports import Model, Tool
from codeagent.core.rule_text import folded
from codeagent.core.seen import Seen
from codeagent.core.subagents import DEEPEST, Kind, Nobody, Parent, Subagent, inherited
from codeagent.core.toolset import Toolset
from codeagent.core.withheld import Withheld
from codeagent.host.jobs import Jobs
from codeagent.host.workspace import Workspace
from codeagent.models.choice import resolve
from codeagent.wiring import tooling
from codeagent.wiring.keeper import Keeper

if TYPE_CHECKING:
    from codeagent.core.starting import Starts
    from codeagent.tools.task import Hired, Order
    from codeagent.wiring.ground import Ground

APART = ("ask_user", "present_plan", "todo")
"""Tools that speak to the person: only the agent in front has them."""

OTHER_NAMES = {"multiedit": "edit", "ls": "glob", "agent": "task", "websearch": "webfetch"}
"""What definitions written for other programs call our tools, folded."""

FORKED = (
    "You are now a sub-agent that knows all of the above. Do only what follows, nothing else of what was planned, "
    "and report; your last message goes to the agent that you were until now, which waits for it.\n\n"
)


class Bench(Struct, frozen=True):
    """What all sub-agents of a session are made from. Beside `log` lie their transcripts; None keeps none."""

    ground: Ground
    session: str
    jobs: Jobs
    models: Model
    further: tuple[Tool[Any], ...]
    now: Callable[[], float]
    log: Path | None


def crew(bench: Bench, parent: Callable[[], Parent]) -> Tool[Any]:
    """The `task` tool of the agent that a person talks to."""
    from codeagent.tools.task import Task

    return cast("Tool[Any]", Task(Crew(bench, parent)))


class Crew:
    """Implements tools.task.Crew for one agent; `parent` is asked when the first sub-agent is made."""

    def __init__(
        self, bench: Bench, parent: Callable[[], Parent], starts: Starts | None = None, level: int = 0
    ) -> None:
        self._bench, self._parent, self._starts = bench, parent, starts
        self.level = level

    @property
    def starts(self) -> Starts:
        """One for the session."""
        if self._starts is None:
            from codeagent.core.starting import Starts  # when the first sub-agent is called

            self._starts = Starts()
        return self._starts

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """By name."""
        return self._bench.ground.own_agents.kinds

    def hire(self, order: Order) -> Hired:
        """Make ready. Raises ToolFault when its model is not there."""
        from codeagent.sessions.transcripts import folder, fresh
        from codeagent.tools.task import Hired

        parent, bench = self._parent(), self._bench
        known = inherited(parent.journal.entries, order.use_id) if order.fork else []
        path = fresh(folder(bench.log), order.use_id) if bench.log else None
        keeper = Keeper(path, bench.now, ready=bench.ground.make_ready, key=bench.ground.seal)
        journal = Journal(known, keeper.append, Withheld(bench.ground.withheld))
        agent = Subagent(parent, order.use_id, order.label, journal, order.kind.steps)
        tools = self._tools(agent, order, known)
        opened = self._opened(agent, order.kind, tools, path) if not order.fork else _first(known)
        if order.fork:
            # On paper only: in memory stands the parent's own, so that the request begins like the parent's.
            stem = path.stem if path else ""
            keeper.append(replace(opened, session=stem, forked_from=bench.session, headless=True))
            keeper.append(Noted(f"This sub-agent knew what session {bench.session} knew then.", to="person"))
            return Hired(agent, tools, FORKED + order.task, transcript=str(path or ""), close=keeper.close)
        journal.append(opened)
        prefix = digest((opened.model, opened.system, opened.tools))
        return Hired(agent, tools, order.task, prefix, str(path or ""), keeper.close)

    def _opened(self, agent: Subagent, kind: Kind, tools: Toolset, path: Path | None) -> Opened:
        ground, above = self._bench.ground, parameters(self._parent().journal.entries)
        model = resolve(kind.model) if kind.model else above.model
        try:
            room = self._bench.models.info(model).first_room
        except ModelError as fault:
            raise ToolFault(f"The model of the agent {kind.name} cannot be used: {fault}") from None
        return Opened(
            session=path.stem if path else "",
            cwd=str(ground.project),
            system=ground.task_prompt(kind.prompt),
            tools=tools.schemas(),
            model=model,
            max_tokens=room,
            effort=above.effort if model == above.model else "",
            mode=agent.parent.gate.mode,
            cache="5m",
            branch=ground.branch,
            headless=True,
            codeagent=__version__,
            format=FORMAT,
        )

    def _tools(self, agent: Subagent, order: Order, known: list[Entry]) -> Toolset:
        from codeagent.tools.task import Task

        bench, gate = self._bench, agent.parent.gate
        ground = bench.ground
        seen = Seen(known, str(ground.project))
        agent.journal.watch(seen.see)
        spill = ground.sessions / bench.session
        workspace = Workspace(ground.project, ground.home, spill, ground.child_env, ground.extra_roots, seen)
        inner = cast("Tool[Any]", Task(Crew(bench, lambda: agent.parent, self.starts, self.level + 1)))
        planning = tooling.Planning(lambda: gate.mode, lambda _mode: None)
        chosen = _chooser(order.kind, deep=self.level + 1 >= DEEPEST, fork=order.fork)
        further = (*bench.further, inner)
        return tooling.build(workspace, bench.session, ground, Nobody(), bench.jobs, planning, further, chosen)


def _chooser(kind: Kind, *, deep: bool, fork: bool) -> Callable[[str], bool]:
    """Which tools it may use, by name. A fork is told of all that its parent has, and refused those that it lacks."""
    wanted = None if kind.tools is None else {_ours(name) for name in kind.tools}

    def chosen(name: str) -> bool:
        apart = not fork and (name in APART or (deep and name == "task"))
        return not apart and (wanted is None or _ours(name) in wanted)

    return chosen


def _ours(name: str) -> str:
    """What we call a tool of this name, folded."""
    plain = folded(name)
    return OTHER_NAMES.get(plain, plain)


def _first(entries: list[Entry]) -> Opened:
    return next(entry for entry in entries if isinstance(entry, Opened))
