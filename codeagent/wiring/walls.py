"""Whether commands run within walls, as the settings and the command line want it."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.errors import UsageFault
from codeagent.host.sandbox import Sandbox
from codeagent.host.workspace import Workspace
from codeagent.settings import Settings


def walls(workspace: Workspace, settings: Settings, state: Path, *, required: bool) -> Sandbox | None:
    """The sandbox of a workspace's commands, None where none is wanted; `state` is hidden in it, for it holds a key.

    Raises UsageFault where it must be and cannot.
    """
    wanted = "on" if required else settings["sandbox"]
    if wanted == "off":
        return None
    roots, network = (workspace.root, *workspace.extra), settings["sandbox.network"]
    made = Sandbox(roots, workspace.home, [state], network=network)
    if wanted == "on" and (problem := made.problem):
        raise UsageFault(f"The sandbox is required and does not work here: {problem}. See codeagent doctor.")
    return made
