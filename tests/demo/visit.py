"""Real sessions on a project: everything is the program's own but the front."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codeagent.core.events import AssistantSaid, ToolStarted, TurnEnded
from codeagent.core.ports import Front
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House


def visit(
    project: Path,
    script: Path,
    rules: tuple[str, ...],
    front: Front,
    env: Mapping[str, str],
    *,
    pace: float = 0,
    again: bool = False,
) -> House:
    """A session on `project` played by `script`; `again` goes on with the last one."""
    model = "" if again else f"script:{script}"
    options = Options(cwd=str(project), model=model, allowed_tools=rules, continue_=again)
    house = House(options, Ground(options, env, Path(env["HOME"])), front, pace=pace)
    house.connect()
    return house


def said(house: House) -> list[str]:
    """What the model said, reply by reply."""
    return [e.text for e in house.agent.journal.entries if isinstance(e, AssistantSaid) and e.text]


def ran(house: House) -> list[str]:
    """The tools that ran, in order."""
    return [e.tool for e in house.agent.journal.entries if isinstance(e, ToolStarted)]


def end(house: House) -> TurnEnded:
    """How the last turn ended."""
    last = house.agent.journal.entries[-1]
    assert isinstance(last, TurnEnded)
    return last
