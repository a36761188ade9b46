"""What rules and mode say of an effect: pure, asks nobody, changes nothing.

The order, first match wins: the built-in deny, deny rules, protected places, ask rules, effects
that are free, plan mode, allow rules, what the mode lets pass, else ask.
"""

from __future__ import annotations

from codeagent.core.effects import Decision, Effect, Risk, Verdict
from codeagent.core.rules import Rule, Rules

EDITS = ("edit", "write")
RISKS = {Risk.LOW: "low", Risk.MEDIUM: "medium", Risk.HIGH: "high"}


def judge(effect: Effect, rules: Rules, mode: str) -> Verdict:
    """What would happen to this effect, and why. In `dontAsk` the gate refuses what this says to ask."""
    return _bound(effect, rules, mode) or _free(effect, rules, mode) or _asked(effect, rules)


def harmless(effect: Effect) -> bool:
    """Whether it provably only reads inside the project."""
    if effect.risk > Risk.LOW or effect.host or any(t.place != "inside" for t in effect.touches):
        return False
    if effect.shell is not None:
        return effect.shell.plain and all(part.readonly for part in effect.shell.parts)
    return all(touch.access == "read" for touch in effect.touches)


def _bound(effect: Effect, rules: Rules, mode: str) -> Verdict | None:
    """What holds in every mode."""
    if effect.shell and effect.shell.forbidden:
        return Verdict("deny", "builtin", f"{_sentence(effect.shell.forbidden)} This is never run, in any mode.")
    if rule := rules.denied(effect):
        return _by_rule("deny", rule, _parts(effect, rules, "deny"))
    for touch in effect.touches:
        if touch.place == "protected":
            what = "changes" if touch.access == "write" else "reads"
            reason = f" ({touch.why})" if touch.why else ""
            return Verdict("ask", "protected", f"It {what} {touch.named or touch.path}, a protected place{reason}.")
    if mode != "bypass" and (rule := rules.asked(effect)):
        return _by_rule("ask", rule, _parts(effect, rules, "ask"))
    return None


def _free(effect: Effect, rules: Rules, mode: str) -> Verdict | None:
    """What runs without a question."""
    if effect.free:
        return Verdict("allow", "builtin", "It changes nothing outside this conversation.")
    reads = harmless(effect)
    if mode == "plan" and not reads:
        why = "Plan mode only explores. Present the plan; changes come when it is approved."
        return Verdict("deny", "mode", why)
    if covering := rules.allowed(effect):
        return _by_rule("allow", covering[0], _parts(effect, rules, "allow"))
    if reads:
        return Verdict("allow", "mode", "It only reads, inside the project.", parts=_parts(effect, rules, "allow"))
    if not rules.strict and _mode_allows(effect, mode):
        return Verdict("allow", "mode", f"The mode {mode} lets it pass.", parts=_parts(effect, rules, "allow"))
    return None


def _mode_allows(effect: Effect, mode: str) -> bool:
    inside = all(touch.place == "inside" for touch in effect.touches)
    match mode:
        case "bypass":
            return True
        case "auto":
            understood = effect.shell is None or effect.shell.plain
            return effect.risk <= Risk.MEDIUM and inside and understood
        case "acceptEdits":
            return effect.tool in EDITS and inside and effect.risk <= Risk.MEDIUM
        case _:
            return False


def _asked(effect: Effect, rules: Rules) -> Verdict:
    parts = _parts(effect, rules, "ask")
    if effect.shell is not None and not effect.shell.plain:
        why = effect.shell.why or "the line could not be read completely"
        return Verdict("ask", "mode", _sentence(why), parts=parts)
    for touch in effect.touches:
        if touch.place == "outside":
            what = "changes" if touch.access == "write" else "reads"
            why = f"It {what} {touch.path}, outside the project."
            if rule := rules.short(effect):
                why += f" The rule {rule.text} ({rule.source}) does not reach there: only one with its path would."
            return Verdict("ask", "path", why, parts=parts)
    why = f"No rule covers it, and its risk is {RISKS[Risk(effect.risk)]}."
    if rules.strict:
        why = f"{rules.strict} Until that is mended everything but reading is asked."
    return Verdict("ask", "mode", why, parts=parts)


def _sentence(words: str) -> str:
    text = words.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _by_rule(decision: Decision, rule: Rule, parts: tuple[tuple[str, Decision, str], ...]) -> Verdict:
    verb = {"allow": "allows", "ask": "asks for", "deny": "forbids"}[decision]
    return Verdict(decision, "rule", f"The rule {rule.text} ({rule.source}) {verb} it.", rule.text, rule.source, parts)


def _parts(effect: Effect, rules: Rules, whole: Decision) -> tuple[tuple[str, Decision, str], ...]:
    """Each simple command of a shell line with what would be decided of it alone."""
    if effect.shell is None:
        return ()
    told: list[tuple[str, Decision, str]] = []
    for part in effect.shell.parts:
        rule = rules.for_part(part)
        if rule is not None:
            told.append((part.text, rule.kind, f"rule {rule.text} ({rule.source})"))
        elif part.readonly:
            told.append((part.text, "allow", "it only reads, inside the project"))
        else:
            told.append((part.text, "allow" if whole == "allow" else "ask", part.why or "no rule covers it"))
    return tuple(told)
