"""Every test that the README names as keeping a promise is there."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def test_each_named_test_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (TOP / "README.md").read_text("utf-8"))
    assert len(named) > 15
    missing = [(path, test) for path, test in named if not _there(TOP / path, test)]
    assert missing == []


def _there(path: Path, test: str) -> bool:
    return path.is_file() and (not test or f"def {test}(" in path.read_text("utf-8"))
