"""Events on paper."""

from __future__ import annotations

import io

import pytest

from codeagent.core.events import (
    AssistantSaid,
    CallDelta,
    Event,
    Noted,
    Queued,
    Retried,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Text, ToolUse
from codeagent.core.views import Diff, Hunk, Plain, Shell, Todo, TodoItem
from codeagent.fronts.repl.paper import Paper, Terminal
from codeagent.fronts.repl.printer import Printer

CHANGE = Diff("shop/cart.py", (Hunk(1, 1, ("-a", "+b")),), 1, 1)


def printed(*events: Event, terminal: Terminal | None = None, shown: str = "", left_off: bool = False) -> str:
    page = io.StringIO()
    printer = Printer(Paper(page, terminal or Terminal(), width=80))
    printer.was_shown(shown)
    for event in events:
        printer.see(event)
    if left_off:
        printer.left_off()
    return page.getvalue()


def test_streamed_words_are_printed_by_closed_blocks_and_not_again() -> None:
    text = "First block.\n\nSecond **block**."
    streamed = printed(
        *(TextDelta(text[at : at + 3]) for at in range(0, len(text), 3)),
        AssistantSaid((Text(text),)),
        TurnEnded("done"),
    )
    assert streamed == "codeagent:\nFirst block.\n\nSecond **block**.\n"


def test_a_resumed_session_looks_like_a_live_one() -> None:
    use = ToolUse("t1", "read", {"file_path": "a.py"})
    entries = (
        AssistantSaid((Text("I look."), use)),
        ToolFinished("t1", "read", (Text("x"),), summary="1 line"),
        AssistantSaid((Text("Done."),)),
        TurnEnded("done"),
    )
    live = (TextDelta("I lo"), TextDelta("ok."), CallDelta("t1", "read", 0), *entries[:2], TextDelta("Done."))
    assert printed(*live, *entries[2:]) == printed(*entries)


def test_text_before_and_after_a_call_being_written_does_not_run_together() -> None:
    text = printed(TextDelta("One."), CallDelta("t1", "read", 0), TextDelta("Two."), AssistantSaid((Text("One."),)))
    assert "One.\n\nTwo.\n" in text


def test_words_of_a_failed_attempt_are_dropped() -> None:
    text = printed(TextDelta("half a sen"), Retried(1, 6, 0.5, "Dropped"), TextDelta("Whole."), AssistantSaid(()))
    assert "half" not in text
    assert "warning: Dropped. Trying again" in text
    assert "Whole." in text


def test_calls_of_a_record_that_breaks_off_are_told() -> None:
    said = AssistantSaid((ToolUse("1", "bash", {"command": "make"}), ToolUse("2", "edit", {"file_path": "a.py"})))
    started = ToolStarted("1", "bash", "make", "Run make", Shell("make"), risk=3)
    assert printed(said, started, left_off=True).splitlines()[-2:] == [
        "  bash  make: outcome unknown",
        "  edit  a.py: not run",
    ]
    assert printed(said, started, TurnEnded("interrupted"), left_off=True) == printed(
        said, started, TurnEnded("interrupted")
    )


def test_quick_calls_take_one_line_and_long_ones_are_told_when_they_begin() -> None:
    uses = AssistantSaid((ToolUse("t1", "read", {"file_path": "a.py"}), ToolUse("t2", "bash", {"command": "make"})))
    text = printed(
        uses,
        ToolStarted("t1", "read", "a.py", "Read a.py", Plain("")),
        ToolFinished("t1", "read", (), summary="42 lines"),
        ToolStarted("t2", "bash", "make", "Run make", Shell("make"), risk=2),
    )
    assert text == "  read  a.py: 42 lines\n  bash  make\n"


def test_a_failed_command_shows_its_last_lines() -> None:
    output = "\n".join(f"line {n}" for n in range(1, 30))
    text = printed(
        ToolStarted("t2", "bash", "make", "Run make", Shell("make"), risk=2),
        ToolFinished(
            "t2", "bash", (), is_error=True, summary="exit 2", view=Shell("make", output=output), took_ms=1500
        ),
    )
    assert "    failed: exit 2, 1.5 s\n" in text
    assert "    | line 29\n" in text
    assert "line 20" not in text


def test_a_change_is_printed_unless_the_question_showed_it() -> None:
    done = ToolFinished("t1", "edit", (), summary="+1 -1", view=CHANGE)
    assert "        1 + b\n" in printed(done)
    assert "+ b" not in printed(done, shown="t1")


def test_the_todo_list() -> None:
    items = Todo((TodoItem("look", "completed"), TodoItem("mend", "in_progress"), TodoItem("test")))
    assert "    [x] look\n    [>] mend\n    [ ] test\n" in printed(ToolFinished("t", "todo", (), view=items))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Noted("The file changed", level="warning"), "warning: The file changed\n"),
        (TurnEnded("failed", "The key is wrong."), "error: The key is wrong.\n"),
        (TurnEnded("interrupted"), "Interrupted."),
        (Queued("q1", "and the docs"), "(kept for the next step: and the docs)"),
        (UserSaid((Text("and the docs"),), queued="q1"), "you: and the docs\n"),
        (ThinkingDelta("hm"), "(thinking)\n"),
    ],
)
def test_each_event_is_told_in_words(event: Event, words: str) -> None:
    assert words in printed(event)


def test_what_the_person_typed_is_not_printed_again() -> None:
    page = io.StringIO()
    printer = Printer(Paper(page, Terminal()))
    printer.typed("hello")
    printer.see(UserSaid((Text("hello"),)))
    assert page.getvalue() == ""


HOSTILE = "\x1b]52;c;AAAA\x07\x1b[2J\u202eevil\x9b31m"


@pytest.mark.parametrize("terminal", [Terminal(), Terminal(True, True, False)], ids=["dumb", "no colour"])
def test_no_byte_from_outside_and_no_ink_of_ours_escapes(terminal: Terminal) -> None:
    text = printed(
        TextDelta(f"# {HOSTILE}\n\n[link](http://x{HOSTILE})\n\n```\n{HOSTILE}\n```\n"),
        AssistantSaid((ToolUse("t1", HOSTILE, {"command": HOSTILE}),)),
        ToolStarted("t1", HOSTILE, HOSTILE, HOSTILE, Shell(HOSTILE), risk=3),
        ToolFinished("t1", HOSTILE, (Text(HOSTILE),), is_error=True, view=Shell(HOSTILE, output=HOSTILE)),
        ToolFinished("t2", "edit", (), summary=HOSTILE, view=Diff(HOSTILE, (Hunk(1, 1, (f"+{HOSTILE}",)),), 1, 0)),
        UserSaid((Text(HOSTILE),)),
        Noted(HOSTILE),
        TurnEnded("failed", HOSTILE),
        terminal=terminal,
    )
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\x9b" not in text
    assert "\u202e" not in text


def test_colour_is_our_own_and_always_ends() -> None:
    text = printed(ToolFinished("t1", "edit", (), view=CHANGE), terminal=Terminal(True, True, True))
    assert "\x1b[32m        1 + b\x1b[0m\n" in text
