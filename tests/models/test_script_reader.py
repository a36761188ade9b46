"""Reading a script: what each line means, and errors that name file, line, what came and what is wanted."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ModelError
from codeagent.core.messages import Text, Thinking, ToolUse, Usage
from codeagent.models.script_format import Fail, Go
from codeagent.models.script_reader import parse


def test_a_step_holds_its_blocks_in_order() -> None:
    script = parse('think Hm.\nsay Two lines,\n  and a paragraph.\n\n  Here.\n\ncall look {"answer": "a"}\n', "s")
    (step,) = script.steps
    assert [part.block for part in step.parts] == [
        Thinking("Hm."),
        Text("Two lines,\nand a paragraph.\n\nHere."),
        ToolUse("", "look", {"answer": "a"}),
    ]
    assert [part.line for part in step.parts] == [1, 2, 7]


def test_comments_blank_lines_and_labels() -> None:
    script = parse("# about\n\n--- one\nsay a\n\n---\n# between\nsay b\n--- three\ngo one\n", "s")
    assert script.labels == {"one": 0, "three": 2}
    assert [step.fork for step in script.steps] == [False, False, True]


def test_indented_text_keeps_what_looks_like_a_line_of_a_script() -> None:
    (step,) = parse("say First\n  # no comment\n  --- no step\n    deeper", "s").steps
    assert step.parts[0].block == Text("First\n# no comment\n--- no step\n  deeper")


def test_line_ends_of_other_systems_are_line_ends() -> None:
    script = parse("--- a\r\nsay One,\r\n  two.\r\ncall look {}\r\ngo a\r\n", "s")
    assert script == parse("--- a\nsay One,\n  two.\ncall look {}\ngo a\n", "s")


def test_a_call_may_go_over_several_lines_and_bring_its_id() -> None:
    (step,) = parse('call edit#toolu_1 {"a": 1,\n  "b": "c\\nd"}\n', "s").steps
    assert step.parts[0].block == ToolUse("toolu_1", "edit", {"a": 1, "b": "c\nd"})


def test_a_call_without_input_has_an_empty_one() -> None:
    (step,) = parse("call look", "s").steps
    assert step.parts[0].block == ToolUse("", "look", {})


def test_the_smaller_lines() -> None:
    text = (
        "--- a\nsay x\nwait 0.5\nstop max_tokens too long\ncut edit write\n"
        'usage {"input": 3, "output": 2, "cost": 0.5}\ngo a when look ~ ^yes\ngo a\n'
        '---\nfail overloaded {"status": 529, "retry_after": 2, "message": "busy"}\n'
    )
    first, second = parse(text, "s").steps
    assert (first.wait, first.stop, first.detail, first.cut) == (0.5, "max_tokens", "too long", ("edit", "write"))
    assert (first.usage, first.cost) == (Usage(3, 2), 0.5)
    assert first.go == (Go("a", 7, "look", "^yes"), Go("a", 8))
    assert second.fail == Fail("overloaded", "busy", 529, 2)


def test_a_block_is_taken_as_it_is() -> None:
    (step,) = parse('block {"type": "thinking", "text": "{{x}}", "signature": "sig"}', "s").steps
    assert step.parts[0].block == Thinking("{{x}}", "sig")
    assert step.parts[0].verbatim


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("say a\nshout b", 2, "'shout' begins no line; wanted one of say, think, call"),
        ("  say a", 1, "indented line continues nothing"),
        ("---\n  say a", 2, "indented line continues nothing"),
        ("\tsay a", 1, "indented line continues nothing"),
        ("say a\n\ncall read {file: 1}", 3, "the input of read is not JSON"),
        ("call read [1]", 1, "wanted a JSON object in braces"),
        ("call ?", 1, "'?' is no call; wanted a tool and its input"),
        ("say {{read: x}}", 1, "'{{read: x}}' stands for nothing; wanted {{SUBJECT ~ PATTERN}}"),
        ('call read {"a": ["{{oh"]}', 1, "'{{oh' stands for nothing"),
        ("say {{read ~ (}}", 1, "'(' is no regular expression"),
        ("say a\ngo there", 2, "no step is called 'there'; the labels are: none"),
        ("--- a\nsay a\ngo b", 3, "the labels are: a"),
        ("--- a\ngo a when", 2, "'a when' is no way; wanted LABEL"),
        ("--- a\ngo a when x ~ [", 2, "is no regular expression"),
        ("--- a\nsay a\n--- a\nsay b", 3, "a step is called 'a' already"),
        ("say a\nstop tired", 2, "'tired' is no reason to stop; wanted one of end_turn"),
        ("say a\nwait long", 2, "'long' is no number; wanted seconds such as 0.5"),
        ('usage {"input": "many"}', 1, "Expected `int`, got `str`"),
        ("fail badly", 1, "'badly' is no failure; wanted one of authentication_failed"),
        ('fail overloaded {"status": "x"}', 1, "Expected `int`"),
        ('block {"type": "joke"}', 1, "Invalid value 'joke'"),
    ],
)
def test_errors_name_the_place(text: str, line: int, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(text, "tour.script")
    assert str(caught.value).startswith(f"tour.script:{line}: ")
    assert words in str(caught.value)
    assert caught.value.category == "script"
