"""The prepared message of /init: look at the project, then write or improve its guidelines."""

from __future__ import annotations

from pathlib import Path

NAMES = ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".agent/AGENTS.md")
"""Where a project may have its guidelines already; the first is used when it has none."""


def starting_message(project: Path, words: str = "") -> str:
    """What the model is told; `words` are what the person wants beside it."""
    text = (Path(__file__).parent / "prompts" / "init.md").read_text("utf-8")
    there = [name for name in NAMES if (project / name).is_file()]
    file = f"{there[0]}, which is there already" if there else NAMES[0]
    return text.format(file=file, words=f"\nThe user adds: {words}" if words else "").strip()
