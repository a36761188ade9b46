"""A desk over the loop's test stage, and an app that sits at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codeagent.core.effects import Answer, AskTrust, Question
from codeagent.core.events import Entry, Event
from codeagent.core.listed import Finding
from codeagent.core.ports import Front
from codeagent.core.valves import Limits
from codeagent.fronts.desk import Listed, ListedJob, ListedSetting
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.palette import Palette
from codeagent.options import Options
from tests.core.stage import Person, Reply, Stage

FILES = ("README.md", "shop/__init__.py", "shop/cart.py", "tests/test_cart.py")


class Through(Person):
    """A person who is the screen."""

    def __init__(self, front: Front) -> None:
        super().__init__()
        self.front = front

    def see(self, event: Event) -> None:
        self.front.see(event)

    async def ask(self, question: Question) -> Answer:
        return await self.front.ask(question)


class Memory:
    """What was remembered."""

    on = True

    def index(self) -> str:
        return "# Memory\n\n- [Cart](cart.md) - rounding"


class TestDesk:
    """A `Desk` that keeps its sessions in memory."""

    __test__ = False

    def __init__(self, front: Front, replies: Sequence[Reply], entries: Sequence[Entry], **more: Any) -> None:
        self._front, self._more = front, more
        limits, snapshots = more.get("limits") or Limits(), more.get("snapshots")
        self.stage = Stage(
            *replies,
            person=Through(front),
            entries=entries,
            limits=limits,
            snapshots=snapshots,
            tools=more.get("tools", ()),
        )
        self.others: dict[str, Sequence[Entry]] = more.get("others", {})
        self.closed = False
        self.answers: list[bool] = []
        self.warmed = 0

    @property
    def agent(self) -> Any:
        return self.stage.agent

    project = Path("/p")
    branch = "main"
    resume_command = "codeagent --resume s"
    sandbox = "on"
    began = 0

    @property
    def theme(self) -> str:
        return str(self._more.get("theme", ""))

    def setting(self, name: str) -> Any:
        from codeagent.setting_keys import KEYS

        return self._more.get("settings", {}).get(name, KEYS[name].default)

    def settings(self) -> Sequence[ListedSetting]:
        return [
            ListedSetting(
                "theme",
                str(self._more.get("theme", "")) or "(nothing)",
                "default",
                ("dark", "light"),
                about="colours of the full screen",
            ),
            ListedSetting(
                "vim",
                "false",
                "~/.config/codeagent/settings.json",
                ("true", "false"),
                about="vim's keys while you write",
            ),
            ListedSetting(
                "maxTurns", "50 (default)", "default", about="steps in a turn before it asks whether to go on"
            ),
        ]

    def keep_setting(self, name: str, value: object) -> str:
        self.kept = (name, value)
        return "settings.json"

    @property
    def memory(self) -> Any:
        return Memory()

    async def findings(self) -> Sequence[Finding]:
        return [Finding("git", "ok", "/usr/bin/git")]

    def permissions(self, call: str) -> str:
        return "Mode default. Deny beats ask beats allow.\n\nallow\n  bash(git status *)  settings.json:3"

    def jobs(self) -> Sequence[ListedJob]:
        return self._more.get("jobs", ())

    def job_output(self, job: str) -> str:
        return f"the output of {job}\n" * 3

    async def stop_job(self, job: str) -> None:
        self.stopped = job

    async def picture(self) -> bytes:
        return bytes(self._more.get("picture", b""))

    def edit(self, text: str, editor: str) -> str:
        return f"{text} {editor}"

    async def status_words(self, command: str, given: Mapping[str, Any]) -> str:
        return f"{command} {given['model']}"

    @property
    def history(self) -> Path | None:
        return self._more.get("history")

    def sessions(self) -> Sequence[Listed]:
        return [
            Listed("two", "fix the cart total", 1000.0, "main", turns=3, cost=0.04),
            Listed("three", "write the changelog", 500.0, "docs", turns=1),
        ]

    def open(self, session: str | None, *, copy: bool = False) -> None:
        self.stage = Stage(person=Through(self._front), entries=self.others.get(session or "", ()))

    def question(self) -> AskTrust | None:
        return self._more.get("question")

    def answer(self, question: AskTrust, *, yes: bool) -> None:
        self.answers.append(yes)

    def models(self) -> Sequence[tuple[str, str]]:
        return [("m", "the one in use"), ("n", "another one")]

    def files(self) -> Sequence[str] | None:
        listed: Callable[[], Sequence[str] | None] = self._more.get("files", lambda: FILES)
        return listed()

    async def warm(self) -> None:
        self.warmed += 1

    async def close(self) -> None:
        self.closed = True


def seated(
    *replies: Reply,
    entries: Sequence[Entry] = (),
    options: Options | None = None,
    palette: Palette | None = None,
    **more: Any,
) -> Codeagent:
    """An app whose desk answers with these replies."""

    def connect(front: Front, **given: object) -> TestDesk:
        return TestDesk(front, replies, entries, **more)

    return Codeagent(options or Options(), connect, palette)


async def until(pilot: Any, true: Callable[[], object], tries: int = 200) -> None:
    """Let the app work until this holds."""
    for _ in range(tries):
        if true():
            return
        await pilot.pause(0.01)
    raise AssertionError("it did not come to that")


def screen_text(app: Codeagent) -> str:
    """What stands on the screen, a line a row."""
    return "\n".join(
        "".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips(app.size)
    )
