"""The system prompt, composed once when a session begins, and stored in it from then on."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from codeagent.memory.instructions import Guidelines

GUIDELINES = "# Guidelines, the nearest last"
MEMORY = "# Memory: topics from earlier sessions; read one with the memory tool"
"""Headings of the second block; a bill of the context tells its parts apart by them."""


class Surroundings(Struct, frozen=True):
    """Where and when the session began. `system` is the operating system's name, `date` YYYY-MM-DD."""

    root: str
    system: str
    date: str
    branch: str = ""
    extra: tuple[str, ...] = ()
    """Further directories that may be worked in."""


def product_prompt() -> str:
    """The first block: the same for everybody, so that its cache entry is shared. No date, no path."""
    return (Path(__file__).parent / "prompts" / "system.md").read_text("utf-8").strip()


def compose(
    guidelines: Guidelines, memory_index: str, surroundings: Surroundings, own: str = "", appended: str = ""
) -> tuple[str, ...]:
    """The system blocks: the product's words, then guidelines, memory and surroundings as the session found them.

    `own` replaces the product's words (`--system-prompt`), `appended` comes last (`--append-system-prompt`).
    """
    parts = [_told_surroundings(surroundings)]
    if guidelines.files:
        said = "\n\n".join(f"## {each.path}\n\n{each.text}" for each in guidelines.files)
        parts.append(f"{GUIDELINES}\n\n{said}")
    if memory_index.strip():
        parts.append(f"{MEMORY}\n\n{memory_index.strip()}")
    if appended.strip():
        parts.append(appended.strip())
    return own.strip() or product_prompt(), "\n\n".join(parts)


def _told_surroundings(found: Surroundings) -> str:
    lines = [f"Project root: {found.root}", f"System: {found.system}"]
    if found.branch:
        lines.append(f"Git branch: {found.branch}")
    lines += [f"Also at hand: {each}" for each in found.extra]
    lines.append(f"Date: {found.date}")
    return "# Surroundings when this session began\n\n" + "\n".join(lines)
