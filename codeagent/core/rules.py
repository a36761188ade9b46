"""Allow, ask and deny patterns over effects, in the field's syntax `Tool(specifier)`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from codeagent.core.effects import Effect, ShellPart

Kind = Literal["allow", "ask", "deny"]


class Rule(Struct, frozen=True):
    """One rule. `source` is where it is written: `file:line` or `command line`."""

    text: str
    tool: str
    specifier: str
    kind: Kind
    source: str = ""


class Rules(Struct, frozen=True):
    """All rules in force."""

    rules: tuple[Rule, ...] = ()


def parse(text: str, kind: Kind, source: str = "") -> Rule:
    """Read `Tool` or `Tool(specifier)`. Raises ValueError in words for a person."""
    tool, bracket, rest = text.strip().partition("(")
    if bracket and not rest.endswith(")"):
        raise ValueError(f"{text!r} lacks its closing bracket; write it like Bash(git status:*).")
    return Rule(text.strip(), tool.strip(), rest[:-1].strip() if bracket else "", kind, source)


def matching(rules: Rules, kind: Kind, effect: Effect) -> Rule | None:
    """The first rule of this kind that matches the effect, or None."""
    for rule in rules.rules:
        if rule.kind != kind or rule.tool.lower() != effect.tool.lower():
            continue
        if not rule.specifier or rule.specifier == "*":
            return rule
        if effect.shell is None:
            continue
        parts = effect.shell.parts
        if kind != "allow" and any(covering(rules, kind, part) for part in parts):
            return rule
        if effect.shell.plain and parts and all(covering(rules, kind, part) or part.readonly for part in parts):
            return rule
    return None


def covering(rules: Rules, kind: Kind, part: ShellPart) -> Rule | None:
    """The first rule of this kind that covers one simple command."""
    for rule in rules.rules:
        if rule.kind == kind and rule.tool.lower() == "bash" and _covers(rule.specifier, part):
            return rule
    return None


def _covers(specifier: str, part: ShellPart) -> bool:
    if part.words is None:
        return False
    if not specifier or specifier == "*":
        return True
    wanted = tuple(specifier.removesuffix(":*").removesuffix(" *").split())
    if specifier.endswith(("*", ":*")):
        return part.words[: len(wanted)] == wanted
    return part.words == wanted


def narrow(effect: Effect) -> tuple[str, ...]:
    """The rules that "don't ask again" would store for this shell line; empty when it cannot be told narrowly."""
    if effect.shell is None or not effect.shell.plain:
        return ()
    parts = [part for part in effect.shell.parts if not part.readonly]
    if not parts or len(parts) > 5 or any(part.words is None for part in parts):
        return ()
    return tuple(f"Bash({part.text})" for part in parts)
