"""No row of the security case files comes out wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security_table import FILES, Line

NAMES = [file.__name__ for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_no_row_is_wrong(file: object, tmp_path: Path) -> None:
    lines: list[Line] = list(file(tmp_path))  # type: ignore[operator]  # one of FILES
    assert {(each.kind, each.wrong) for each in lines if each.wrong and not each.kind.startswith("bonus")} == set()
    assert sum(each.right for each in lines) > 20
