"""Events become the same blocks, live or from the log."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.effects import By
from codeagent.core.events import (
    Asked,
    AssistantSaid,
    CallDelta,
    Decided,
    Event,
    Heard,
    Noted,
    Opened,
    Retried,
    Switched,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Image, Text, Thinking, ToolUse
from codeagent.core.views import Diff, Hunk, Plain, Shell, Todo, TodoItem
from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.story import Story

ASKED = Asked(1, "m", "d", "s", "t", 1, 100)
WORDS = "First *words*.\n\n- a\n- b\n\n```py\nx = 1\n```\n\nLast."


def story(*events: Event) -> Story:
    made = Story()
    for event in events:
        made.see(event)
    return made


def drawn(made: Story) -> list[str]:
    painter = Painter(DARK, UNICODE, 80)
    return [strip.text.rstrip() for block in made.blocks for strip in painter.draw(block)]


def deltas(text: str, size: int = 3) -> Iterable[TextDelta]:
    return (TextDelta(text[i : i + size]) for i in range(0, len(text), size))


@given(st.integers(1, 60))
def test_a_stream_and_its_record_look_the_same(size: int) -> None:
    said = AssistantSaid((Text(WORDS), ToolUse("1", "read", {"path": "a.py"})))
    live = story(ASKED, *deltas(WORDS, size), CallDelta("1", "read", 10), said)
    assert drawn(live) == drawn(story(ASKED, said))


def test_the_record_corrects_what_streamed() -> None:
    made = story(ASKED, *deltas("half a wor"), AssistantSaid((Text("Something else."),)))
    assert drawn(made) == ["   Something else."]


def test_closed_blocks_are_not_touched_again() -> None:
    made = story(ASKED, *deltas("one\n\ntwo"))
    versions = [b.version for b in made.blocks]
    made.take_changed()
    made.see(TextDelta(" more"))
    assert made.take_changed() == 1
    assert made.blocks[0].version == versions[0]


def test_a_retry_voids_the_words() -> None:
    made = story(ASKED, *deltas("void words"), Retried(1, 5, 2.0, "The server is busy"))
    assert drawn(made) == [" ! The server is busy. Trying again in 2 s (1 of 5)."]


def test_a_command_stands_above_what_it_says_and_apart_from_the_one_before() -> None:
    made = story()
    for command, words in (("/mode", "The mode is default."), ("/todo", "The todo list is empty.")):
        made.tell(command, "command")
        made.tell(words)
    assert drawn(made) == [" › /mode", "   The mode is default.", "", " › /todo", "   The todo list is empty."]


def test_words_beside_a_yes_are_shown() -> None:
    made = story(Decided("1", "bash", "Run make", "allow", "dialog", words="then the tests"))
    assert drawn(made)[-1] == "   You added: then the tests"


def test_thinking_is_folded_into_one_line() -> None:
    made = story(ASKED, ThinkingDelta("Let me see.\nAnd more."), TextDelta("Yes."))
    assert [b.kind for b in made.blocks] == ["thinking", "words"]
    assert drawn(made)[0] == " ▸ thought  Let me see."
    made.toggle(0)
    assert drawn(made)[1] == "   Let me see."


def test_thinking_from_the_log() -> None:
    assert drawn(story(AssistantSaid((Thinking("Hm."), Text("Yes.")))))[0] == " ▸ thought  Hm."


def test_words_of_a_killed_reply_come_back() -> None:
    assert drawn(story(ASKED, Heard("It was "), Heard("cut"), TurnEnded("interrupted")))[0] == "   It was cut"


def test_records_of_a_live_reply_are_not_shown_twice() -> None:
    made = story(ASKED, TextDelta("once"), Heard("once"), TurnEnded("interrupted"))
    assert drawn(made)[0] == "   once"
    assert sum("once" in row for row in drawn(made)) == 1


def call(*events: Event) -> list[str]:
    return drawn(story(AssistantSaid((ToolUse("1", "bash", {"command": "make"}),)), *events))


def test_a_call_goes_along() -> None:
    began = ToolStarted("1", "bash", "make all", "Run make all", Shell("make all"))
    assert call()[0].startswith(" ▸ bash   make ")
    assert call(began, ToolProgress("1", "compiling\n"))[1] == "   │ compiling"
    done = ToolFinished("1", "bash", (Text("ok"),), summary="built", took_ms=1200, view=Shell("make all", output="ok"))
    rows = call(began, done)
    assert len(rows) == 1
    assert rows[0].startswith(" ▸ bash   make all ")
    assert rows[0].endswith("  built  1.2 s")


def test_a_failed_call_opens_to_its_last_lines() -> None:
    output = "\n".join(f"line {i}" for i in range(30))
    done = ToolFinished("1", "bash", (), True, "failed", "exit 2", Shell("make", output=output, exit_code=2))
    rows = call(done)
    assert "✗ exit 2" in rows[0]
    assert rows[1] == "   │ … 22 more lines"
    assert rows[-1] == "   │ line 29"


@pytest.mark.parametrize(
    ("by", "words", "shown"),
    [
        ("dialog", "", "✗ you said no"),
        ("dialog", "use git", "✗ you said no: use git"),
        ("rule", "", "✗ denied by a rule"),
    ],
)
def test_a_refused_call_says_who_refused(by: By, words: str, shown: str) -> None:
    decided = Decided("1", "bash", "Run make", "deny", by, words=words)
    rows = call(decided, ToolFinished("1", "bash", (), True, "refused", "denied by a rule"))
    assert rows[0].endswith(shown)


def test_an_edit_shows_its_picture() -> None:
    diff = Diff("a.py", (Hunk(1, 1, ("-x = 1", "+x = 2")),), 1, 1)
    rows = call(ToolFinished("1", "edit", (), view=diff))
    assert rows[0].endswith("+1 -1")
    assert rows[1:] == ["        1  - x = 1", "        1  + x = 2"]


def test_an_interrupted_turn_leaves_no_call_running() -> None:
    began = ToolStarted("1", "bash", "make", "Run make", Shell("make"))
    assert call(began, TurnEnded("interrupted"))[0].endswith("✗ interrupted")


def test_calls_of_a_record_that_breaks_off_are_not_shown_as_running() -> None:
    said = AssistantSaid((ToolUse("1", "bash", {"command": "make"}), ToolUse("2", "edit", {"file_path": "a.py"})))
    made = story(ASKED, said, ToolStarted("1", "bash", "make", "Run make", Shell("make")))
    made.left_off()
    first, second = (line for line in drawn(made) if line.strip())
    assert first.endswith("outcome unknown")
    assert second.endswith("not run")


def test_the_todo_list_is_kept() -> None:
    todo = Todo((TodoItem("a"),))
    assert story(ToolFinished("1", "todo", (), view=todo)).todo == todo


def test_words_from_outside_cannot_control_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[2J\u202e"
    events: list[Event] = [
        UserSaid((Text(evil),)),
        AssistantSaid((Text(evil), Thinking(evil), ToolUse("1", evil, {"path": evil}))),
        ToolStarted("1", evil, evil, evil, Plain(evil)),
        ToolFinished("1", evil, (Text(evil),), True, "failed", evil, Plain(evil)),
        Noted(evil),
        ToolFinished("2", "edit", (), view=Diff(evil, (Hunk(1, 1, (f"+{evil}",)),), 1, 0)),
    ]
    made = story(*events)
    made.fold_all("open")
    shown = "".join(drawn(made))
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "\\x1b" in shown


@pytest.mark.parametrize(
    "text", ["[/]", "[/bold]", "[@click=app.quit]x[/]", "a[0] = 'x' [/bold]", "[link=http://x]y", ":smile:"]
)
def test_markup_is_only_text(text: str) -> None:
    assert text in "\n".join(drawn(story(UserSaid((Text(text),)))))
    assert text in "\n".join(drawn(story(Noted(text))))


def test_pictures_are_counted() -> None:
    assert drawn(story(UserSaid((Image("image/png", "x"), Text("look"))))) == [" › look", "   [1 attachment]"]


def test_a_long_message_is_folded() -> None:
    rows = drawn(story(UserSaid((Text("\n".join(str(i) for i in range(50))),))))
    assert rows[-1] == "   … 38 more lines"


def test_a_carriage_return_between_two_deltas_is_one_line_end() -> None:
    assert drawn(story(ASKED, TextDelta("a\r"), TextDelta("\nb"))) == ["   a b"]


OPENED = Opened("s", "/p", (), (), "m", 1000)
HELLO = UserSaid((Text("hello"),))


def test_switches_of_the_mode_by_key_are_one_line_with_the_message_that_they_are_for() -> None:
    modes = [Switched(mode=mode) for mode in ("acceptEdits", "plan", "default", "acceptEdits")]
    made = story(OPENED, *modes)
    assert drawn(made) == []
    made.see(HELLO)
    assert drawn(made) == ["   mode: acceptEdits", "", " › hello"]
    made.see(HELLO)
    assert drawn(made)[3:] == ["", " › hello"]


def test_a_mode_that_is_back_where_it_was_is_not_told() -> None:
    assert drawn(story(OPENED, Switched(mode="plan"), Switched(mode="default"), HELLO)) == [" › hello"]


def test_a_command_that_switches_the_mode_is_answered_at_once() -> None:
    made = story(OPENED)
    made.tell("/plan", "command")
    made.see(Switched(mode="plan"))
    assert drawn(made) == [" › /plan", "   mode: plan"]


def test_what_a_person_ran_shows_what_it_printed() -> None:
    output = "\n".join(f"line {n}" for n in range(20))
    view = Shell("ls", output=output)
    for use_id, shown in (("own_1", True), ("1", False)):
        made = story(
            ToolStarted(use_id, "bash", "ls", "Run", view, 0, "k"), ToolFinished(use_id, "bash", (), view=view)
        )
        assert ("   │ line 19" in drawn(made)) is shown
        assert ("   │ … 12 more lines" in drawn(made)) is shown
