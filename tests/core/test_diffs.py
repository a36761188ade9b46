"""Diffs say what changed: applying them to the old text gives the new one."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.diffs import LINES, diff
from codeagent.core.views import Diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "longer\n"]), max_size=25).map("".join)


def applied(before: str, view: Diff) -> list[str]:
    """The new lines by the diff; asserts that context and removed lines are the old ones."""
    old = before.split("\n")[:-1]
    out: list[str] = []
    at = 0
    for hunk in view.hunks:
        out += old[at : hunk.old_start - 1]
        at = hunk.old_start - 1
        assert len(out) == hunk.new_start - 1
        for line in hunk.lines:
            if line[0] in " -":
                assert old[at] == line[1:]
                at += 1
            if line[0] in " +":
                out.append(line[1:])
    return out + old[at:]


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_a_diff_leads_from_old_to_new(before: str, after: str) -> None:
    view = diff("f", before, after)
    assert applied(before, view) == after.split("\n")[:-1]
    assert view.added - view.removed == after.count("\n") - before.count("\n")
    assert bool(view.hunks) == (before != after)


def test_two_lines_of_context() -> None:
    text = "".join(f"{n}\n" for n in range(1, 21))
    view = diff("f", text, text.replace("10\n", "ten\n"))
    (hunk,) = view.hunks
    assert (hunk.old_start, hunk.new_start) == (8, 8)
    assert hunk.lines == (" 8", " 9", "-10", "+ten", " 11", " 12")


def test_a_missing_last_newline_shows() -> None:
    view = diff("f", "a\nb", "a\nb\n")
    assert (view.added, view.removed) == (1, 1)
    assert any("no newline" in line for line in view.hunks[0].lines)


def test_huge_changes_are_capped_and_counted_in_time() -> None:
    before = "".join(f"old {n}\n" for n in range(200_000))
    began = time.monotonic()
    view = diff("f", before, before.replace("old", "new"))
    assert time.monotonic() - began < 15
    assert (view.added, view.removed) == (200_000, 200_000)
    assert sum(len(hunk.lines) for hunk in view.hunks) == LINES
