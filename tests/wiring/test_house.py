"""Opening sessions, and what is left behind when one cannot be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.errors import UsageFault
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House
from tests.core.stage import Person


def house(project: Path, home: Path, **options: str) -> House:
    environ = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": "/usr/bin:/bin"}
    return House(
        Options(cwd=str(project), **options), Ground(Options(cwd=str(project), **options), environ, home), Person()
    )


async def test_a_session_whose_model_is_gone_can_be_opened_with_another(tmp_path: Path) -> None:
    project, script = tmp_path / "project", tmp_path / "book.script"
    project.mkdir()
    script.write_text("---\nsay Hello.\n")
    first = house(project, tmp_path, model=f"script:{script}", session_id="one")
    first.connect()
    await first.agent.say("hello")
    await first.close()
    script.unlink()
    again = house(project, tmp_path, resume="one")
    with pytest.raises(UsageFault, match=r"book\.script"):
        again.connect()
    again.connect(model="offline")
    assert again.agent.model == "offline"
    await again.close()
