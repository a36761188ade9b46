"""The tools of a session, each with what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from codeagent.core.effects import ShellReading
from codeagent.core.errors import UsageFault
from codeagent.core.ports import Approver, Clock, Tool
from codeagent.core.toolset import Toolset
from codeagent.host.jobs import Jobs
from codeagent.host.paths import Places
from codeagent.host.workspace import Workspace

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground


class Planning(Struct, frozen=True):
    """How plan mode is known and left: the mode, and what an approved plan does with it."""

    mode: Callable[[], str]
    approved: Callable[[str], None]


def build(
    workspace: Workspace, session: str, ground: Ground, approver: Approver, clock: Clock, planning: Planning
) -> tuple[Toolset, Jobs]:
    """All tools that the options leave, and the background commands that have to be ended with the session."""
    from codeagent.tools.ask_user import AskUser
    from codeagent.tools.bash import Bash
    from codeagent.tools.edit import Edit
    from codeagent.tools.glob import Glob
    from codeagent.tools.grep import Grep
    from codeagent.tools.inputs import explain
    from codeagent.tools.memory import Memory
    from codeagent.tools.present_plan import PresentPlan
    from codeagent.tools.read import Read
    from codeagent.tools.todo import Todo
    from codeagent.tools.web_fetch import WebFetch
    from codeagent.tools.write import Write

    places = Places(workspace.root, workspace.home, workspace.extra, lambda: workspace.cwd)
    jobs = Jobs(session, clock, ground.sandbox(workspace))
    tools: list[Tool[Any]] = [
        Read(workspace, places.judge),
        Write(workspace, places.judge),
        Edit(workspace, places.judge),
        Grep(workspace, places.judge),
        Glob(workspace, places.judge),
        Bash(workspace, reader(places, workspace.env), jobs),
        Todo(),
        AskUser(approver.ask, lambda: approver.attended),
        PresentPlan(approver.ask, lambda: approver.attended, planning.mode, planning.approved),
        Memory(ground.notebook(session), workspace.root),
        WebFetch(workspace, private=ground.settings["webFetch.allowPrivate"]),
    ]
    chosen = ground.tool_names([tool.name for tool in tools])
    return Toolset([tool for tool in tools if tool.name in chosen], explain), jobs


def reader(places: Places, env: Mapping[str, str]) -> Callable[[str, str], ShellReading]:
    """Reads a shell line that would run in a directory: `read(command, cwd)`. Runs nothing but `git config --list`."""
    from codeagent.host import git

    configs: dict[str, git.Config] = {}
    """By directory: the shell may have moved into a repository within the project."""

    def read(command: str, cwd: str) -> ShellReading:
        from codeagent.shell.reader import read_line

        config = configs.setdefault(cwd, git.Config(Path(cwd), env))

        return read_line(
            command,
            cwd,
            lambda path, access: places.judge(path, "write" if access == "write" else "read"),
            config.inert,
        )

    return read


def named(wanted: str, known: list[str]) -> set[str]:
    """The tools that `--tools` leaves: `default` all, empty none, else a list. Raises UsageFault."""
    if wanted == "default":
        return set(known)
    names = {name.strip().lower() for name in wanted.replace(",", " ").split()}
    unknown = names - set(known)
    if unknown:
        raise UsageFault(f"There is no tool {', '.join(sorted(unknown))}. The tools are: {', '.join(known)}.")
    return names
