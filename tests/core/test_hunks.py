"""A part of a change: exactly the hunks that were taken, and nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.diffs import diff, groups
from codeagent.core.hunks import mixed, parted, place, told
from codeagent.core.views import Diff, Hunk

LINES = st.sampled_from(["a", "b\r", "c", "", "longer", "é\x0b\u2028 x"])
SAME = st.lists(LINES, min_size=3, max_size=9)
TEXTS = st.tuples(st.lists(LINES, max_size=25).map("\n".join), st.sampled_from(["", "\n"])).map("".join)


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str]:
    """A text and another that differs from it in several places."""
    before: list[str] = []
    after: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        same = draw(SAME)
        before += [*same, *draw(st.lists(LINES, max_size=3))]
        after += [*same, *draw(st.lists(LINES, max_size=3))]
    ends = draw(st.sampled_from(["", "\n"])), draw(st.sampled_from(["", "\n"]))
    return "\n".join(before) + ends[0], "\n".join(after) + ends[1]


def patched(before: str, view: Diff) -> str:
    """The text by the diff alone; asserts that context and removed lines are the old ones."""
    end = "\n\\ no newline at the end of the file"
    old = before.split("\n")
    old = old[:-1] if not old[-1] else [*old[:-1], old[-1] + end]
    out: list[str] = []
    at = 0
    for hunk in view.hunks:
        out += old[at : hunk.old_start - 1]
        at = hunk.old_start - 1
        assert len(out) == hunk.new_start - 1
        for line in hunk.lines:
            if line[0] in " -":
                assert old[at].removesuffix(end) == line[1:].removesuffix(end)
                at += 1
            if line[0] in " +":
                out.append(old[at - 1] if line[0] == " " else line[1:])
    text = "".join(line + "\n" for line in out + old[at:])
    return text.removesuffix(f"{end}\n") if text.endswith(f"{end}\n") else text


@settings(max_examples=300, deadline=None)
@given(changed() | st.tuples(TEXTS, TEXTS), st.sets(st.integers(0, 6)))
def test_any_part_is_the_diff_of_the_taken_hunks_and_touches_nothing_else(
    texts: tuple[str, str], wanted: set[int]
) -> None:
    before, after = texts
    view, spans = diff("f", before, after), groups(before, after)
    every = range(len(view.hunks))
    assert len(spans) == len(every)
    assert mixed(before, after, spans, every) == after
    assert mixed(before, after, spans, ()) == before
    taken = wanted & set(every)
    part = mixed(before, after, spans, taken)
    made, left = parted(view, taken)
    assert patched(before, made) == part
    rest = Diff("f", tuple(Hunk(h.old_start, h.old_start + moved, h.lines) for h, moved in _moving(left)), 0, 0)
    assert patched(part, rest) == after


def _moving(hunks: tuple[Hunk, ...]) -> list[tuple[Hunk, int]]:
    """Hunks with how far those before them move the lines."""
    moved, out = 0, []
    for hunk in hunks:
        out.append((hunk, moved))
        moved += sum((line[0] == "+") - (line[0] == "-") for line in hunk.lines)
    return out


BEFORE = "".join(f"{n}\n" for n in range(1, 31))
AFTER = BEFORE.replace("5\n", "five\nand a half\n", 1).replace("12\n", "").replace("\n20\n", "\n20\nnew\n")


def test_the_numbers_are_those_of_the_file_as_it_is_then() -> None:
    made, left = parted(diff("f", BEFORE, AFTER), {0, 2})
    assert (made.added, made.removed) == (3, 1)
    assert [place(hunk, "new") for hunk in made.hunks] == ["lines 5-6", "line 22"]
    assert [place(hunk, "old") for hunk in left] == ["line 13"]
    made, left = parted(diff("f", BEFORE, AFTER), {1})
    assert [place(hunk, "new") for hunk in made.hunks] == ["after line 11"]
    assert [place(hunk, "old") for hunk in left] == ["line 5", "after line 19"]
    assert place(diff("f", "a\n", "new\na\n").hunks[0], "old") == "at the start"


def test_the_model_is_told_what_was_applied_and_what_was_not() -> None:
    words = told(*parted(diff("f", BEFORE, AFTER), {0, 2}))
    assert "took 2 of 3 hunks" in words
    assert "Applied: lines 5-6; line 22. Left out, unchanged there: line 13." in words
    assert "@@ -3,5 +3,6 @@\n 3\n 4\n-5\n+five\n+and a half\n 6\n 7\n@@" in words
    assert "-12" not in words


def test_the_model_is_not_told_without_end() -> None:
    before = "".join(f"{n}{'x' * 500}\n" for n in range(400))
    after = "".join(
        f"{n}{'y' * 500}\n" if n in range(10, 200) or n == 300 else line + "\n"
        for n, line in enumerate(before.split("\n")[:-1])
    )
    words = told(*parted(diff("f", before, after), {0}))
    assert "more lines" in words
    assert len(words) < 60_000
