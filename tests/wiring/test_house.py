"""Opening sessions, and what is left behind when one cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import UsageFault
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House
from tests.core.stage import Person


def house(project: Path, home: Path, **options: Any) -> House:
    environ = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": "/usr/bin:/bin"}
    return House(
        Options(cwd=str(project), **options), Ground(Options(cwd=str(project), **options), environ, home), Person()
    )


@pytest.mark.parametrize("forked", [False, True])
async def test_a_session_of_another_brings_no_mode_and_a_copy_does_not_make_it_ours(
    tmp_path: Path, forked: bool
) -> None:
    project, theirs, mine = tmp_path / "project", tmp_path / "theirs", tmp_path / "mine"
    project.mkdir()
    first = house(project, theirs, model="offline", session_id="one")
    first.connect()
    await first.agent.say("hello")
    first.agent.switch(mode="acceptEdits")
    await first.close()
    again = house(project, theirs, resume="one")
    again.connect()
    assert again.agent.mode == "acceptEdits", "one's own goes on as it was left"
    await again.close()
    copy = {"fork_session": True, "session_id": "two"} if forked else {}
    strange = house(project, mine, resume="one", **copy)
    strange.connect()
    assert strange.agent.mode == "default"
    await strange.close()
    with pytest.raises(UsageFault, match="no session"):
        house(project, mine, continue_=True).connect()


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


async def test_a_copy_is_made_once_and_other_sessions_are_opened_as_they_are(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("one", "two"):
        made = house(project, tmp_path, model="offline", session_id=name)
        made.connect()
        await made.agent.say("hello")
        await made.close()
    desk = house(project, tmp_path, model="offline", resume="one", fork_session=True, session_id="copy")
    desk.connect()
    logs = project / ".agent" / "sessions"
    assert {path.stem for path in logs.glob("*.jsonl")} == {"one", "two", "copy"}
    desk.open("two")
    assert len(list(logs.glob("*.jsonl"))) == 3
    desk.open("two", copy=True)
    before = (logs / "two.jsonl").read_bytes()
    await desk.agent.say("on in the copy")
    await desk.close()
    assert len(list(logs.glob("*.jsonl"))) == 4
    assert (logs / "two.jsonl").read_bytes() == before


async def test_a_schema_that_is_none_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="The JSON schema cannot be used"):
        house(tmp_path, tmp_path, model="offline", json_schema="[]").connect()


async def test_a_kept_setting_is_read_at_once_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    desk = house(tmp_path, tmp_path, model="offline")
    desk.connect()
    desk.keep_setting("vim", True)
    assert desk.setting("vim") is True
    for name, value, words in (("theme", "blue", "one of dark"), ("thmee", "dark", "Did you mean theme")):
        with pytest.raises(UsageFault, match=words):
            desk.keep_setting(name, value)
    await desk.close()
