"""Prints how many cases pass, by file and level: `python -m tests.tools.table`. Exits 1 when one fails.

A case passes when all its tests do, with each engine. Those that cannot run here are counted apart, with the reason.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict

import pytest

from tests.tools.desk import cases
from tests.tools.test_edit_cases import ELSEWHERE

RUN = {
    "tools/edit": "tests/tools/test_edit_cases.py",
    "tools/read": "tests/tools/test_read_cases.py",
    "tools/grep": "tests/tools/test_grep_cases.py",
    "tools/glob": "tests/tools/test_glob_cases.py",
    "tools/ignore": "tests/host/test_listing.py",
    "tools/bash": "tests/tools/test_bash_cases.py",
    "security/tool_input": "tests/tools/test_any_input.py",
}
LEVELS = ("must", "should", "choice")


class Tally:
    """A pytest plugin: outcome of each test, by its id."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.when == "call" and self.outcomes.get(report.nodeid) != "failed"):
            self.outcomes[report.nodeid] = report.outcome
        elif report.skipped:
            self.outcomes[report.nodeid] = "skipped"
        if report.skipped and isinstance(report.longrepr, tuple):
            self.reasons[report.nodeid] = report.longrepr[2]


def main() -> int:
    """Run the case tests and print the table."""
    tally = Tally()
    pytest.main(["-q", "--no-header", "--no-summary", *RUN.values()], plugins=[tally])
    print(f"\n{'cases':<22}" + "".join(f"{level:>16}" for level in LEVELS))
    failed = 0
    for name, file in RUN.items():
        rows = {row["id"]: row.get("level", "must") for row in cases(name)}
        came = _by_row(rows, {node: how for node, how in tally.outcomes.items() if node.startswith(file)})
        counts = Counter((level, _verdict(came[row])) for row, level in rows.items())
        print(f"{name:<22}" + "".join(f"{_cell(counts, level):>16}" for level in LEVELS))
        for row, level in rows.items():
            if _verdict(came[row]) != "passed":
                failed += _verdict(came[row]) == "failed"
                print(f"    {_verdict(came[row])}: {row} ({level}) {ELSEWHERE.get(row, '')}".rstrip())
    for node, reason in sorted(tally.reasons.items()):
        print(f"skipped {node.partition('::')[2]}: {reason}")
    return 1 if failed else 0


def _by_row(rows: dict[str, str], outcomes: dict[str, str]) -> dict[str, list[str]]:
    """The outcomes of each row's tests; a test's id holds its row's id between dashes or brackets."""
    found = defaultdict[str, list[str]](list)
    for node, how in outcomes.items():
        inside = f"-{node.partition('[')[2].rstrip(']')}-"
        names = [row for row in rows if f"-{row}-" in inside]
        if names:
            found[max(names, key=len)].append(how)
    return found


def _verdict(outcomes: list[str]) -> str:
    if "failed" in outcomes:
        return "failed"
    return "passed" if "passed" in outcomes else "not run here"


def _cell(counts: Counter[tuple[str, str]], level: str) -> str:
    total = sum(number for (at, _), number in counts.items() if at == level)
    return f"{counts[level, 'passed']} of {total}" if total else "-"


if __name__ == "__main__":
    sys.exit(main())
