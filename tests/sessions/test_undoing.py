"""A change taken back from its diff gives the bytes that were there, or nothing."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.diffs import diff
from codeagent.sessions.undoing import before

LINE = st.text(st.sampled_from("ab \t"), max_size=4)
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(LINE, max_size=30), st.sampled_from(["", "\n", "\n\n"])
)


@given(TEXT, TEXT, st.booleans())
def test_any_change_is_taken_back(old: str, new: str, windows: bool) -> None:
    was, now = ((text.replace("\n", "\r\n") if windows else text).encode() for text in (old, new))
    if windows and (b"\r\n" not in now or b"\r\n" not in was):
        return
    found = before(now, diff("a", old, new), sha256(was).hexdigest())
    assert found == was


def test_a_file_that_was_changed_since_is_left() -> None:
    change = diff("a", "one\ntwo\n", "one\n2\n")
    assert before(b"one\n3\n", change, sha256(b"one\ntwo\n").hexdigest()) is None
