"""What rules and mode say of an effect: pure, asks nobody, changes nothing.

The order, first match wins: the built-in deny, deny rules, protected places, ask rules, effects
that are free, plan mode, what only reads, allow rules, what the mode lets pass, else ask.
"""

from __future__ import annotations

from codeagent.core.effects import Decision, Effect, Risk, Verdict
from codeagent.core.rules import Rule, Rules

EDITS = ("edit", "write")
Parts = tuple[tuple[str, Decision, str], ...]
"""`Verdict.parts`."""
RISKS = {Risk.LOW: "low", Risk.MEDIUM: "medium", Risk.HIGH: "high"}


def judge(effect: Effect, rules: Rules, mode: str) -> Verdict:
    """What would happen to this effect, and why. In `dontAsk` the gate refuses what this says to ask."""
    return _bound(effect, rules, mode) or _free(effect, rules, mode) or _asked(effect, rules, mode)


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
        return _by_rule("deny", (rule,), _parts(effect, rules, mode))
    for touch in effect.touches:
        if touch.place == "protected":
            what = "changes" if touch.access == "write" else "reads"
            reason = f" ({touch.why})" if touch.why else ""
            return Verdict("ask", "protected", f"It {what} {touch.named or touch.path}, a protected place{reason}.")
    if mode != "bypass" and (rule := rules.asked(effect)):
        return _by_rule("ask", (rule,), _parts(effect, rules, mode))
    return None


def _free(effect: Effect, rules: Rules, mode: str) -> Verdict | None:
    """What runs without a question."""
    if effect.free:
        return Verdict("allow", "builtin", "It changes nothing outside this conversation.")
    reads = harmless(effect)
    if mode == "plan" and not reads:
        why = "Plan mode only explores. Present the plan; changes come when it is approved."
        return Verdict("deny", "mode", why)
    if reads:
        return Verdict("allow", "mode", "It only reads, inside the project.", parts=_parts(effect, rules, mode))
    if covering := rules.allowed(effect):
        whole = next((_named(rule) for rule in covering if not rule.specifier), "")
        return _by_rule("allow", covering, _parts(effect, rules, mode, whole))
    if not rules.strict and _mode_allows(effect, mode):
        lets = f"the mode {mode} lets it pass"
        return Verdict("allow", "mode", _sentence(lets), parts=_parts(effect, rules, mode, lets))
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


def _asked(effect: Effect, rules: Rules, mode: str) -> Verdict:
    parts = _parts(effect, rules, mode)
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
    why = f"No rule covers it, and its risk is {RISKS[Risk(effect.risk)]}: {_makes_the_risk(effect)}."
    if rules.strict:
        why = f"{rules.strict} Until that is mended everything but reading is asked."
    return Verdict("ask", "mode", why, parts=parts)


def _makes_the_risk(effect: Effect) -> str:
    """What puts it into its class."""
    if effect.risk <= Risk.LOW:
        return "it only reads"
    if effect.risk == Risk.MEDIUM:
        return "it only builds or tests" if effect.shell else "it changes no more than this project"
    if effect.host:
        return "it reaches the network"
    return "it may do more than " + ("read, build or test" if effect.shell else "read and edit in this project")


def _sentence(words: str) -> str:
    text = words.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _by_rule(decision: Decision, rules: tuple[Rule, ...], parts: Parts) -> Verdict:
    """Decided by these rules together; several are only ever allow rules. The first stands for them in the record."""
    verb, verbs = {"allow": ("allows", "allow"), "ask": ("asks for", ""), "deny": ("forbids", "")}[decision]
    names = " and ".join(f"{rule.text} ({rule.source})" for rule in rules)
    why = f"The rules {names} together {verbs} it." if len(rules) > 1 else f"The rule {names} {verb} it."
    return Verdict(decision, "rule", why, rules[0].text, rules[0].source, parts)


def _named(rule: Rule) -> str:
    return f"rule {rule.text} ({rule.source})"


def _parts(effect: Effect, rules: Rules, mode: str, lets: str = "") -> Parts:
    """Each simple command of a shell line with what would be decided of it alone.

    `lets` is the reason for which all of an allowed line passes, whatever its parts are.
    """
    if effect.shell is None:
        return ()
    told: list[tuple[str, Decision, str]] = []
    for part in effect.shell.parts:
        rule = rules.for_part(part)
        if rule is not None and not (rule.kind == "ask" and mode == "bypass"):
            told.append((part.text, rule.kind, _named(rule)))
        elif part.readonly:
            told.append((part.text, "allow", "it only reads, inside the project"))
        elif lets:
            told.append((part.text, "allow", lets))
        else:
            told.append((part.text, "ask", part.why or "no rule covers it"))
    return tuple(told)
