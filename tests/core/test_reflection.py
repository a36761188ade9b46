"""A failure that repeats is thought about once, before the next try."""

from __future__ import annotations

from codeagent.core.events import AssistantSaid, Noted, ToolFinished, UserSaid
from codeagent.core.messages import Text, ToolUse
from codeagent.core.reflection import Reflection
from tests.core.stage import Stage, call, say


def ran(reflection: Reflection, number: int, command: str, *, failed: bool = True) -> None:
    reflection.see(AssistantSaid((ToolUse(str(number), "bash", {"command": command}),)))
    words = (Text(f"exit code 1 after {number} s"),)
    reflection.see(ToolFinished(str(number), "bash", words, failed, "failed" if failed else "done"))


def test_the_same_command_that_fails_again_is_asked_about_once() -> None:
    reflection = Reflection()
    ran(reflection, 1, "make test")
    assert reflection.note(memory=True) is None
    ran(reflection, 2, "make  test")
    note = reflection.note(memory=True)
    assert note is not None
    assert "The same command failed again" in note.text
    assert "lessons" in note.text
    assert note.to == "model"
    reflection.see(note)
    ran(reflection, 3, "make test")
    assert reflection.note(memory=True) is None


def test_a_success_between_two_failures_takes_the_first_back() -> None:
    reflection = Reflection()
    ran(reflection, 1, "make test")
    ran(reflection, 2, "make test", failed=False)
    ran(reflection, 3, "make test")
    assert reflection.note(memory=False) is None


def test_other_commands_and_refusals_are_other_problems() -> None:
    reflection = Reflection()
    ran(reflection, 1, "make test")
    ran(reflection, 2, "make lint")
    reflection.see(ToolFinished("3", "edit", (Text("no"),), True, "refused"))
    reflection.see(ToolFinished("4", "edit", (Text("no"),), True, "refused"))
    assert reflection.note(memory=False) is None


def test_a_new_message_begins_a_new_task_and_what_was_told_stays_told() -> None:
    reflection = Reflection()
    ran(reflection, 1, "make test")
    reflection.see(UserSaid((Text("try again"),)))
    ran(reflection, 2, "make test")
    assert reflection.note(memory=False) is None
    ran(reflection, 3, "make test")
    note = reflection.note(memory=False)
    assert note is not None
    assert "lessons" not in note.text
    again = Reflection([note])
    ran(again, 1, "make test")
    ran(again, 2, "make test")
    assert again.note(memory=False) is None


async def test_the_model_is_asked_at_the_tail() -> None:
    steps = [say("", call(str(n), answer=str(n), fault="fault")) for n in range(4)]
    stage = Stage(*steps, say("done"))
    await stage.agent.say("go")
    told = [e for e in stage.of(Noted) if e.topic == "reflection"]
    assert len(told) == 1
    assert "The tool look, in the same way, failed again" in told[0].text
    before, after = stage.model.asked[1].messages, stage.model.asked[2].messages
    assert after[: len(before)] == before
