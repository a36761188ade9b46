"""Prints the table; exits 1 when a bar is missed. `python -m tests.bench [start] [loop] [tools] [context] [screen]`."""

from __future__ import annotations

import sys

from tests.bench import context, loop, screen, start, tools

PARTS = {
    "start": start.rows,
    "loop": loop.rows,
    "tools": tools.rows,
    "context": context.rows,
    "screen": screen.rows,
}


def main() -> int:
    missed = 0
    print(f"{'what':<44}{'is':>12}{'at most':>12}")
    for name in sys.argv[1:] or PARTS:
        for row in PARTS[name]():
            bar = f"{row.bar:,.2f}" if row.bar else "-"
            print(
                f"{row.name:<44}{row.value:>12,.2f}{bar:>12} {row.unit:<6}{'' if row.good else ' MISSED'}", flush=True
            )
            missed += not row.good
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
