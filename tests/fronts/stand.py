"""A desk for the fronts that print: a real agent on the core's stage, with a directory as its project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codeagent.core.agent import Agent
from codeagent.core.effects import AskTrust
from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Entry, UserSaid
from codeagent.core.listed import Finding
from codeagent.core.messages import Text
from codeagent.core.path_patterns import Anchors
from codeagent.core.ports import Front
from codeagent.core.rules import Rules, parse
from codeagent.fronts.desk import Listed, ListedJob, ListedSetting
from codeagent.memory.layout import Layout
from codeagent.setting_keys import KEYS
from codeagent.wiring.remembering import Shelf
from tests.core.stage import Reply, Stage


def rules(*texts: str) -> Rules:
    """Deny rules of these texts."""
    return Rules([parse(text, "deny", "settings.json:1") for text in texts], Anchors("/p", "/home/u", "/p"))


class StageDesk:
    """Opens one other session, named `other`."""

    branch = "main"
    history: Path | None = None
    sandbox = ""
    theme = ""
    resume_command = "codeagent -r s"

    def __init__(self, front: Front, project: Path, *replies: Reply, **settings: Any) -> None:
        settings.setdefault("rules", rules())
        self._front, self._settings = front, settings
        self.project = project
        self.stage = Stage(*replies, person=front, **settings)  # type: ignore[arg-type]
        self.closed = False
        self.stopped: list[str] = []

    @property
    def agent(self) -> Agent:
        return self.stage.agent

    def sessions(self) -> Sequence[Listed]:
        return (Listed("s-other", "the other one", 1000.0, "main", cost=0.25), Listed("s-third", "", 900.0))

    def open(self, session: str | None, *, copy: bool = False) -> None:
        if session not in (None, "s-other", "s" if copy else None):
            raise UsageFault("That session is open elsewhere.")
        self.stage = Stage(person=self._front, **self._settings)  # type: ignore[arg-type]

    def question(self) -> AskTrust | None:
        return None

    def answer(self, question: AskTrust, *, yes: bool) -> None:
        raise AssertionError("nothing was asked")

    def permissions(self, call: str) -> str:
        return f"Why {call}?" if call else "No rules."

    def models(self) -> Sequence[tuple[str, str]]:
        return (("claude-sonnet-5-5", "the usual"), ("claude-opus-5", "the large"), ("m", "this one"))

    async def findings(self) -> Sequence[Finding]:
        return (Finding("git", "ok", "/usr/bin/git"),)

    def setting(self, name: str) -> Any:
        return KEYS[name].default

    def settings(self) -> Sequence[ListedSetting]:
        return (ListedSetting("theme", "dark", "default"),)

    def keep_setting(self, name: str, value: object) -> str:
        return "settings.json"

    def files(self) -> Sequence[str]:
        return ("shop/cart.py", "tests/test_cart.py", "README.md")

    def jobs(self) -> Sequence[ListedJob]:
        return (
            ListedJob("job1", "npm run dev", 61.0),
            ListedJob("job2", "make", 5.0, 2),
            ListedJob("job3", "sleep 9", 9.0, 143, stopped="job3" in self.stopped),
        )

    def job_output(self, job: str) -> str:
        if job not in ("job1", "job2"):
            raise UsageFault(f"There is no job {job!r}. /jobs lists them.")
        return "listening on 5173\n" if job == "job1" else ""

    async def stop_job(self, job: str) -> None:
        self.stopped.append(job)

    def transcript(self, use_id: str) -> Sequence[Entry]:
        if use_id != "t1":
            raise UsageFault(f"Session s has no sub-agent {use_id!r}. It has: t1.")
        return (UserSaid((Text("look there"),)), AssistantSaid((Text("It is there."),)))

    @property
    def memory(self) -> Shelf:
        return Shelf(Layout(self.project), b"k" * 32, self.project, {}, lambda on: f"settings ({on})", on=True)

    @property
    def began(self) -> int:
        return 1

    async def warm(self) -> None:
        """There is nothing to warm."""

    async def close(self) -> None:
        self.closed = True


Connect = Callable[[Front], StageDesk]


def connecting(project: Path, *replies: Reply, **settings: Any) -> tuple[Connect, list[StageDesk]]:
    """What a front is started with, and where the desk that it made is found later."""
    made: list[StageDesk] = []

    def connect(front: Front) -> StageDesk:
        made.append(StageDesk(front, project, *replies, **settings))
        return made[0]

    return connect, made
