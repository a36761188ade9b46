"""The tools of a session, each with what it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from codeagent.core.effects import ShellReading
from codeagent.core.errors import UsageFault
from codeagent.core.ports import Approver, Snapshots, Tool
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
    workspace: Workspace,
    session: str,
    ground: Ground,
    approver: Approver,
    jobs: Jobs,
    planning: Planning,
    further: Sequence[Tool[Any]] = (),
    only: Callable[[str], bool] | None = None,
) -> Toolset:
    """All tools that the options leave; `jobs` hold the commands that they leave in the background.

    `further` are tools that come on top; `only` chooses by name, for a sub-agent.
    """
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
    taken = {tool.name for tool in tools}
    if only is None:
        _tell_taken(ground, taken)
    tools += _own(ground, taken, workspace, jobs)
    tools += further
    chosen = ground.tool_names([tool.name for tool in tools])
    return Toolset([tool for tool in tools if tool.name in chosen and (only is None or only(tool.name))], explain)


def snapshots(workspace: Workspace, folder: Path, session: str) -> Snapshots | None:
    """What a rewind puts files back from; None for a session that is not kept."""
    from codeagent.host.listing import Lister
    from codeagent.host.snapshots import ProjectSnapshots

    if not session:
        return None
    roots = (workspace.root, *workspace.extra)
    return ProjectSnapshots(folder, session, roots, Lister(workspace.root, workspace.env))


def _tell_taken(ground: Ground, taken: Collection[str]) -> None:
    for name in ground.own_tools.names:
        if name in taken:
            ground.tell(f"The tool {name} of this project is left out: codeagent has one of this name.")


def _own(ground: Ground, taken: Collection[str], workspace: Workspace, jobs: Jobs) -> Iterator[Tool[Any]]:
    """The project's own tools; none takes the name of one of ours."""
    for declaration in ground.own_tools.declarations:
        if declaration.name in taken:
            continue
        from codeagent.tools.own import Own

        yield cast("Tool[Any]", Own(declaration, workspace, jobs))


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
