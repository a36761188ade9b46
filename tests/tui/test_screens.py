"""Every screen looks as it did when it was last looked at."""

from __future__ import annotations

import pytest

from tests.tui.screens import CASES, SIZES, path, shoot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", CASES)
async def test_screen(name: str, size: tuple[int, int]) -> None:
    assert await shoot(name, size) == path(name, size).read_text("utf-8")
