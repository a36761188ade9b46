"""The table of faults names tests that exist, and leaves out no number."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = [row for row in (ROOT / "docs/reliability.md").read_text().splitlines() if re.match(r"\| \d+ \|", row)]


def test_every_fault_has_its_row() -> None:
    assert [int(row.split("|")[1]) for row in ROWS] == list(range(1, 41))


def test_every_test_that_is_named_exists() -> None:
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row)
        assert named, row
        for file, test in named:
            assert (ROOT / file).is_file(), file
            assert not test or re.search(rf"^(async )?def {test}\(", (ROOT / file).read_text(), re.M), f"{file}::{test}"
