"""Keys that count twice: how long the first press holds, and what ends it."""

from __future__ import annotations

from codeagent.fronts.tui.twice import CLEARS, LEAVES, Twice


class Line:
    """A status line that keeps what it is told, and a clock."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []
        self.time = 10.0
        self.twice = Twice(lambda words, seconds: self.told.append((words, seconds)), lambda: self.time)

    def press(self, key: str = "ctrl+c", draft: str = "", within: float = LEAVES) -> bool:
        return self.twice.pressed(key, draft, "again", within)


def test_the_hint_stands_exactly_as_long_as_the_first_press_holds() -> None:
    for within in (LEAVES, CLEARS):
        line = Line()
        assert not line.press(within=within)
        assert line.told == [("again", within)]
        line.time += within - 0.01
        assert line.press(within=within)
        assert line.told[-1] == ("", 0.0)


def test_too_late_a_second_press_is_a_first_one() -> None:
    line = Line()
    assert not line.press()
    line.time += LEAVES
    assert not line.press()
    line.time += 1.2
    assert line.press()
    assert not line.press()


def test_another_key_or_another_draft_begins_anew() -> None:
    line = Line()
    assert not line.press("escape", "abc")
    assert not line.press("ctrl+c", "abc")
    assert not line.press("escape", "abc")
    line.twice.stands("abc")
    assert line.told[-1] == ("again", LEAVES)
    line.twice.stands("abcd")
    assert line.told[-1] == ("", 0.0)
    assert not line.press("escape", "abc")
