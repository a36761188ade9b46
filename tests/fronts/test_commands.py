"""Slash commands, run on a real agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.budget import Meter
from codeagent.core.events import AssistantSaid, Spent, ToolFinished, ToolStarted, UserSaid
from codeagent.core.messages import Text, ToolUse, Usage
from codeagent.core.notebook import Topic
from codeagent.core.views import Diff, Hunk, Plain, Todo, TodoItem
from codeagent.fronts import commands, reports
from codeagent.models import catalog
from tests.core.stage import Person, call, say
from tests.fronts.stand import StageDesk


@pytest.fixture
def desk(tmp_path: Path) -> StageDesk:
    return StageDesk(Person(), tmp_path, say("I look.", call("1"), call("2", "change")), say("It is 42."))


async def told(desk: StageDesk, line: str, outcome: commands.Outcome = "handled") -> str:
    lines: list[str] = []
    assert await commands.run(desk, line, lines.append) == outcome
    return "\n".join(lines)


async def test_every_command_is_listed_and_does_something(desk: StageDesk) -> None:
    text = await told(desk, "/help")
    for command in commands.COMMANDS:
        assert f"{command.name} " in text
        outcome = await commands.run(desk, command.name, lambda _text: None)
        assert outcome == {"/exit": "exit", "/clear": "redraw", "/fork": "redraw"}.get(command.name, "handled")


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("/help", True),
        ("/mode plan", True),
        ("exit", True),
        (" quit ", True),
        ("/usr/bin/env is a path", False),
        ("exit the loop early", False),
        ("// a comment", False),
        ("", False),
    ],
)
def test_what_is_a_command(line: str, ours: bool) -> None:
    assert commands.is_command(line) is ours


@pytest.mark.parametrize(
    "line", ["/clear", " /NEW ", "/continue 2", "/resume", "/undo", "/Rewind 1 files", "/compact now"]
)
def test_what_changes_the_conversation_waits_for_the_turn(line: str) -> None:
    assert commands.must_wait(line)
    assert not commands.must_wait("/cost")


def test_completion_offers_beginnings_first() -> None:
    assert [name for name, _ in commands.complete("/co")] == ["/compact", "/context", "/cost", "/config", "/copy"]
    assert [name for name, _ in commands.complete("/text")] == ["/context"]
    assert len(commands.complete("/")) == len(commands.COMMANDS)
    assert commands.complete("/nothing") == []
    assert [name for name, _ in commands.complete("/mode")] == ["/mode", "/model"], "what stands there whole is meant"


async def test_an_unknown_command_suggests_the_nearest(desk: StageDesk) -> None:
    assert "Did you mean /mode" in await told(desk, "/mod x", "unknown")
    assert (await told(desk, "/nonsense", "unknown")) == "There is no command /nonsense. All commands: /help"
    assert "Did you mean /resume" in await told(desk, "/contineu", "unknown")
    assert "/help" in await told(desk, "/xyzzy", "unknown")


async def test_mode_model_and_effort(desk: StageDesk) -> None:
    assert "> default" in await told(desk, "/mode")
    await told(desk, "/mode acceptEdits")
    assert desk.agent.mode == "acceptEdits"
    await told(desk, "/plan")
    assert desk.agent.mode == "plan"
    assert "There is no mode" in await told(desk, "/mode fast")
    assert "> m  this one" in await told(desk, "/model")
    await told(desk, "/model opus")
    assert desk.agent.model == "claude-opus-5"
    assert "Several models" in await told(desk, "/model claude")
    await told(desk, "/model llama-9")
    assert desk.agent.model == "llama-9"
    assert "no levels" in await told(desk, "/effort")
    assert "no levels" in await told(desk, "/effort high")
    assert "no level of effort" in await told(desk, "/effort nosuch")


async def test_resume_by_number_id_beginning_and_name(desk: StageDesk) -> None:
    assert "1  the other one  -  " in await told(desk, "/resume")
    for words in ("1", "s-other", "s-o", "The Other One"):
        await told(desk, f"/resume {words}", "redraw")
    assert "More than one" in await told(desk, "/resume s-")
    assert "No session" in await told(desk, "/resume 7")
    assert "open elsewhere" in await told(desk, "/resume s-third")


async def test_reports_after_a_turn(desk: StageDesk) -> None:
    await desk.agent.say("what is it?")
    assert "$0.02" in await told(desk, "/cost")
    assert "tool results" in await told(desk, "/context")
    status = await told(desk, "/status")
    assert "what is it?" in status
    assert "codeagent -r s" in status
    audit = await told(desk, "/audit")
    assert "allowed  MEDIUM  Look at seen  (done)" in audit
    assert "by you: You said yes." in audit
    assert "empty" in await told(desk, "/todo")
    assert "changed no file" in await told(desk, "/diff")
    desk.agent.journal.append(ToolFinished("9", "todo", (), view=Todo((TodoItem("mend it"),))))
    desk.agent.journal.append(ToolFinished("8", "edit", (), view=Diff("a.py", (Hunk(1, 1, ("-x", "+y")),), 1, 1)))
    assert "[ ] mend it" in await told(desk, "/todo")
    assert "1 change in 1 file: +1 -1" in await told(desk, "/diff")


async def test_export_writes_markdown_and_never_over_a_file(desk: StageDesk, tmp_path: Path) -> None:
    await desk.agent.say("what is it?")
    desk.agent.journal.append(AssistantSaid((ToolUse("7", "bash", {"command": "echo `x`"}),)))
    desk.agent.journal.append(ToolFinished("7", "bash", (Text("a ``` fence"),), summary="1 line"))
    assert str(tmp_path / "talk.md") in await told(desk, "/export talk.md")
    text = (tmp_path / "talk.md").read_text()
    assert text.startswith("# what is it?\n\n## You\n\nwhat is it?\n\n## codeagent\n\nI look.")
    assert "````\na ``` fence\n````" in text
    assert "exists already" in await told(desk, "/export talk.md")
    assert "did not work" in await told(desk, "/export no/such/dir.md")


async def test_copy_uses_the_clipboard_or_a_file(desk: StageDesk) -> None:
    assert "no answer" in await told(desk, "/copy")
    await desk.agent.say("what is it?")
    copied: list[str] = []
    shown: list[str] = []

    def copy(text: str) -> bool:
        copied.append(text)
        return True

    await commands.run(desk, "/copy", shown.append, copy)
    assert copied == ["It is 42."]
    path = Path((await told(desk, "/copy")).rsplit(" ", 1)[-1])
    assert path.read_text() == "It is 42."
    path.unlink()


async def test_later_needs_a_running_turn(desk: StageDesk) -> None:
    assert "just say it" in await told(desk, "/later and the docs")
    assert "/later TEXT" in await told(desk, "/later")


async def test_rename(desk: StageDesk) -> None:
    await told(desk, "/rename the cart")
    assert desk.agent.title == "the cart"
    assert "What shall it be called" in await told(desk, "/rename")


async def test_clear_opens_a_new_session(desk: StageDesk) -> None:
    await desk.agent.say("what is it?")
    await told(desk, "/new", "redraw")
    assert not any(isinstance(e, UserSaid) for e in desk.agent.journal.entries)


async def test_sub_agents_are_listed_and_what_one_did_is_shown(desk: StageDesk) -> None:
    assert "No sub-agents" in await told(desk, "/agents")
    journal = desk.agent.journal
    for number, label in enumerate(("Look", "Look again"), 1):
        journal.append(ToolStarted(f"t{number}", "task", label, label, Plain(label)))
    journal.append(Spent("t1", Usage(1000, 200), 0.02))
    journal.append(Spent("t2", Usage(300, 45), 0.01))
    journal.append(ToolFinished("t1", "task", (Text("There."),), summary="5 steps, 1k tokens"))
    first, second, _ = (await told(desk, "/agents")).splitlines()
    assert first.split("(") == ["  1  Look  ", "done, 5 steps, 1k tokens, $0.02)"]
    assert "cut off, 345 tokens" in second
    spent = reports.spending(Meter(journal.entries), journal.entries, None)
    (row,) = [line for line in spent.splitlines() if line.startswith("sub-agents")]
    assert row.split()[:2] == ["sub-agents", "$0.03"]
    shown = await told(desk, "/agents 1")
    assert "task: look there" in shown
    assert "It is there." in shown
    assert "no sub-agent" in await told(desk, "/agents 2")
    assert "no sub-agent '9'" in await told(desk, "/agents 9")


async def test_jobs_are_listed_read_and_stopped(desk: StageDesk) -> None:
    listed = await told(desk, "/jobs")
    assert [line.split()[:2] for line in listed.splitlines()[:3]] == [
        ["job1", "runs"],
        ["job2", "ended,"],
        ["job3", "ended,"],
    ]
    assert "npm run dev" in listed
    assert "listening on 5173" in await told(desk, "/jobs job1")
    assert "nothing so far" in await told(desk, "/jobs job2")
    assert "no job 'job9'" in await told(desk, "/jobs job9")
    assert "job3 has ended" in await told(desk, "/jobs stop job3")
    assert "stopped" in await told(desk, "/jobs")


async def test_the_memory_is_listed_read_edited_and_switched(tmp_path: Path) -> None:
    desk = StageDesk(Person(), tmp_path)
    topics = desk.memory.topics("s")
    topics.carry_out(topics.planned_save(Topic("Code style", "how code looks", "Use tabs.")))
    assert "- [Code style](code-style.md) - how code looks" in await told(desk, "/memory")
    assert "Use tabs." in await told(desk, "/memory code style")
    assert "no memory topic" in await told(desk, "/memory nothing")
    assert "Open it in an editor" in await told(desk, "/memory edit Code style")
    assert "off for new sessions" in await told(desk, "/memory off")
    edited: list[Path] = []
    shown: list[str] = []
    await commands.run(desk, "/memory edit", shown.append, edit=edited.append)
    assert [path.name for path in edited] == ["MEMORY.md"]


async def test_cost_tells_session_turn_and_step_and_the_date_of_the_prices(tmp_path: Path) -> None:
    desk = StageDesk(Person(), tmp_path, say("a", call("1")), say("b"))
    await desk.agent.say("go")
    shown = await told(desk, "/cost")
    assert "last turn" in shown
    assert "last step" in shown
    assert "unknown price" in shown
    assert "as listed on 2026-11-29" in reports.spending(desk.agent.meter, (), catalog.info("claude-opus-5").price)
