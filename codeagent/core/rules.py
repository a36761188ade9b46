"""Rules over effects: which one decides, and which ones "don't ask again" stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from codeagent.core import command_patterns
from codeagent.core.effects import Effect, ShellPart, Touch
from codeagent.core.path_patterns import Anchors, host_matches, path_matches, spellings
from codeagent.core.rule_text import (
    EDITS,
    NAMED,
    READS,
    Kind,
    Rule,
    folded,
    names_a_server,
    never_matches,
    parse,
    remark,
)

__all__ = [
    "Anchors",
    "Kind",
    "Rule",
    "Rules",
    "allowed_by",
    "covering",
    "match",
    "narrow",
    "never_matches",
    "parse",
    "remark",
]

_MOST_STORED = 5
"""More rules than a person reads in a dialog are not offered."""


def match(rule: Rule, effect: Effect, anchors: Anchors) -> bool:
    """Does this one rule decide the effect: allow all of it, or ask about or deny some of it?"""
    if rule.kind == "allow":
        return allowed_by([rule], effect, anchors)
    tool = folded(effect.tool)
    if not rule.specifier:
        return _same_tool(rule, tool)
    if rule.tool == "bash":
        return tool == "bash" and effect.shell is not None and any(sees(rule, part) for part in effect.shell.parts)
    if rule.tool in READS | EDITS:
        touches = effect.touches + (effect.shell.touches if effect.shell else ())
        return any(_reaches(rule, touch, effect, anchors) for touch in touches)
    return _names(rule, tool, effect)


def allowed_by(rules: Sequence[Rule], effect: Effect, anchors: Anchors) -> bool:
    """Do these allow rules together cover the whole effect? A write outside is only covered by its path."""
    tool = folded(effect.tool)
    if effect.shell is not None and effect.shell.forbidden:
        return False
    if not _permitted(rules, [touch for touch in effect.touches if _leaves(touch)], effect, anchors):
        return False
    if bare(rules, tool):
        return True
    if tool == "bash":
        return _line_allowed(rules, effect)
    if effect.touches and (tool in READS or tool in EDITS):
        return _permitted(rules, effect.touches, effect, anchors)
    return any(rule.specifier and _names(rule, tool, effect) for rule in rules)


def bare(rules: Iterable[Rule], tool: str) -> Rule | None:
    """The rule that names this tool (folded) and no more, if one does."""
    return next((rule for rule in rules if not rule.specifier and _same_tool(rule, tool)), None)


def _leaves(touch: Touch) -> bool:
    return touch.access == "write" and touch.place == "outside"


def _permitted(rules: Sequence[Rule], touches: Iterable[Touch], effect: Effect, anchors: Anchors) -> bool:
    return all(any(_permits(rule, touch, effect, anchors) for rule in rules) for touch in touches)


def _line_allowed(rules: Sequence[Rule], effect: Effect) -> bool:
    """A rule over commands means them in the project: with another `cwd` the same words do another thing."""
    shell = effect.shell
    if shell is None or not shell.plain or any(touch.place != "inside" for touch in effect.touches):
        return False
    return all(part.readonly or covering(rules, part) for part in shell.parts)


def covering(rules: Iterable[Rule], part: ShellPart) -> Rule | None:
    """The allow rule that covers this simple command, if one does."""
    if part.words is None:
        return None
    found = (rule for rule in rules if rule.tool == "bash" and _covers(rule, part.words))
    return next(found, None)


def _needed(rule: Rule, effect: Effect) -> bool:
    """Does this allow rule, of those that match, cover anything that would not pass without one?"""
    if not rule.specifier or rule.tool != "bash" or effect.shell is None:
        return True
    return any(covering((rule,), part) for part in effect.shell.parts if not part.readonly)


def _covers(rule: Rule, words: tuple[str, ...]) -> bool:
    return not rule.specifier or command_patterns.covers(_pattern(rule.specifier), words)


def sees(rule: Rule, part: ShellPart) -> bool:
    """Does this ask or deny rule see this simple command, or one that it wraps?"""
    forms = part.covers if part.words is None else (part.words, *part.covers)
    return rule.tool == "bash" and (
        not rule.specifier or any(command_patterns.catches(_pattern(rule.specifier), form) for form in forms)
    )


@lru_cache(maxsize=512)
def _pattern(specifier: str) -> re.Pattern[str]:
    return command_patterns.compiled(specifier)


def _same_tool(rule: Rule, tool: str) -> bool:
    """Bare names: `Edit` also means write, `Read` also means search; `mcp__x` means all of that server."""
    if rule.tool == tool or (rule.tool == "edit" and tool in EDITS) or (rule.tool == "read" and tool in READS):
        return True
    if not rule.tool.startswith("mcp__"):
        return False
    if rule.tool.endswith("*"):
        named = rule.kind != "allow" or names_a_server(rule.tool)
        return named and tool.startswith(rule.tool.removesuffix("*"))
    return tool.startswith(rule.tool + "__")


def _reaches(rule: Rule, touch: Touch, effect: Effect, anchors: Anchors) -> bool:
    """Deny and ask: the named or the resolved path is enough. A Read rule also keeps from writing."""
    if rule.tool in EDITS and touch.access == "read":
        return False
    base = rule.base or anchors.root
    return any(
        path_matches(rule.specifier, path, anchors, base, wide=True) for path in spellings(touch, effect.cwd, anchors)
    )


def _permits(rule: Rule, touch: Touch, effect: Effect, anchors: Anchors) -> bool:
    """Allow: both the named and the resolved path must match. An Edit rule also permits reading."""
    if not rule.specifier or rule.tool not in READS | EDITS or (rule.tool in READS and touch.access == "write"):
        return False
    base = rule.base or anchors.root
    return all(
        path_matches(rule.specifier, path, anchors, base, wide=False) for path in spellings(touch, effect.cwd, anchors)
    )


def _names(rule: Rule, tool: str, effect: Effect) -> bool:
    """Rules over hosts (`WebFetch(domain:x)`) and over names (`Skill(review)`)."""
    if rule.tool != tool:
        return False
    if tool == "webfetch":
        return rule.specifier.startswith("domain:") and host_matches(rule.specifier[7:].strip(), effect.host)
    if tool in NAMED:
        return command_patterns.catches(_pattern(rule.specifier), tuple((effect.name or effect.label).split()))
    return False


class Rules:
    """All rules of a session, from every layer. Deny beats ask beats allow; order does not matter.

    `strict` names a settings file that cannot be read, in a sentence: a deny may be lost in it, so
    no mode lets anything pass meanwhile.
    """

    def __init__(self, rules: Iterable[Rule], anchors: Anchors, strict: str = "") -> None:
        self.all = tuple(rules)
        self.strict = strict
        self._anchors = anchors

    def allowing(self, texts: Iterable[str]) -> Rules:
        """The same with these allow rules added."""
        return Rules((*self.all, *(parse(text, "allow", "") for text in texts)), self._anchors, self.strict)

    def denied(self, effect: Effect) -> Rule | None:
        """The first deny rule that sees any of the effect."""
        return self._first("deny", effect)

    def asked(self, effect: Effect) -> Rule | None:
        """The first ask rule that sees any of the effect."""
        return self._first("ask", effect)

    def allowed(self, effect: Effect) -> tuple[Rule, ...]:
        """The allow rules that together cover all of the effect, and each some of it that only a rule lets pass.

        () when they do not, or none is needed.
        """
        rules = [rule for rule in self.all if rule.kind == "allow"]
        if not allowed_by(rules, effect, self._anchors):
            return ()
        alone = (rule for rule in rules if match(rule, effect, self._anchors) and _needed(rule, effect))
        if one := next(alone, None):
            return (one,)
        return tuple(dict.fromkeys(rule for rule in self._shares(rules, effect) if rule))

    def _shares(self, rules: Sequence[Rule], effect: Effect) -> Iterator[Rule | None]:
        """The rule for each share of an effect that no rule covers alone."""
        whole = bare(rules, folded(effect.tool))
        for touch in effect.touches:
            if _leaves(touch) or (whole is None and folded(effect.tool) in READS | EDITS):
                yield next((rule for rule in rules if _permits(rule, touch, effect, self._anchors)), None)
        if whole is not None:
            yield whole
        elif effect.shell is not None:
            yield from (covering(rules, part) for part in effect.shell.parts if not part.readonly)

    def without(self, gone: Rule) -> Rules:
        """The same without this rule, wherever it stands with the same words."""
        kept = (rule for rule in self.all if (rule.kind, rule.text, rule.source) != (gone.kind, gone.text, gone.source))
        return Rules(kept, self._anchors, self.strict)

    def short(self, effect: Effect) -> Rule | None:
        """The allow rule that names the tool, and does not reach as far out as this effect would write."""
        rules = (rule for rule in self.all if rule.kind == "allow")
        return bare(rules, folded(effect.tool)) if any(_leaves(touch) for touch in effect.touches) else None

    def for_part(self, part: ShellPart) -> Rule | None:
        """The rule that decides one simple command: deny, then ask, then allow. For explanations.

        None for what only reads and no deny or ask rule sees: it needs no rule.
        """
        for kind in ("deny", "ask"):
            found = next((rule for rule in self.all if rule.kind == kind and sees(rule, part)), None)
            if found:
                return found
        return None if part.readonly else covering((rule for rule in self.all if rule.kind == "allow"), part)

    def _first(self, kind: Kind, effect: Effect) -> Rule | None:
        return next((rule for rule in self.all if rule.kind == kind and match(rule, effect, self._anchors)), None)


def narrow(effect: Effect) -> tuple[str, ...]:
    """The rules that "don't ask again" stores for a command or a host; () when none can be narrow.

    For a command: one exact rule per part that is not read-only, at most five. They allow the same
    words again and no others.
    """
    if effect.host:
        return (
            (f"WebFetch(domain:{effect.host})",)
            if host_matches(effect.host, effect.host) and "*" not in effect.host
            else ()
        )
    shell = effect.shell
    if shell is None or not shell.plain or shell.forbidden:
        return ()
    needed = list(dict.fromkeys(part.words for part in shell.parts if not part.readonly))
    if not needed or len(needed) > _MOST_STORED or None in needed:
        return ()
    texts = tuple(f"Bash({command_patterns.exact(words)})" for words in needed if words)
    rules = [parse(text, "allow", "") for text in texts]
    fits = all(covering(rules, part) for part in shell.parts if not part.readonly)
    return texts if fits and not any(never_matches(rule) for rule in rules) else ()
