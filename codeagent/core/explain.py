"""A decision of the gate in plain words: what, by which rule and where it stands, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from codeagent.core.effects import Effect, Verdict
from codeagent.core.judging import judge
from codeagent.core.modes import MODES
from codeagent.core.rules import Rule, Rules, narrow

DECIDED = {"allow": "Runs without a question", "ask": "Asked", "deny": "Refused"}


def settled(verdict: Verdict, mode: str) -> Verdict:
    """The verdict with what the mode makes of a question: `dontAsk` refuses it."""
    if mode != "dontAsk" or verdict.decision != "ask":
        return verdict
    why = f"The mode dontAsk refuses what would be asked. {verdict.why}"
    return replace(verdict, decision="deny", by="mode", why=why)


def told(effect: Effect, verdict: Verdict, mode: str) -> Iterator[str]:
    """The decision as lines of text: the whole, its parts, and what would change it."""
    yield effect.title
    first, *others = details(effect, verdict)
    yield f"{DECIDED[verdict.decision]}, in mode {mode}. {first}"
    yield from others


def details(effect: Effect, verdict: Verdict) -> Iterator[str]:
    """The same without the first line, for a dialog that shows the effect already."""
    yield verdict.why or "No rule covers it."
    for touch in effect.touches:
        if touch.place != "inside" and touch.path not in verdict.why and touch.why not in verdict.why:
            yield f"{touch.access}s {touch.path}: {touch.why or 'outside the project'}"
    if len(verdict.parts) > 1 or (verdict.parts and verdict.parts[0][2] not in verdict.why):
        yield ""
        width = min(48, max(len(text) for text, _, _ in verdict.parts))
        for text, decision, reason in verdict.parts:
            yield f"  {decision:<5}  {text:<{width}}  {reason}"
    if verdict.ways:
        yield ""
        yield "What would change it:"
        yield from (f"  - {way}" for way in verdict.ways)


def ways(effect: Effect, verdict: Verdict, rules: Rules, mode: str, setting: str = "/mode") -> tuple[str, ...]:
    """What would change the decision, each in a sentence. `setting` is what a mode's name is written behind here."""
    return tuple(_ways(effect, verdict, rules, mode, setting))


def _ways(effect: Effect, verdict: Verdict, rules: Rules, mode: str, setting: str) -> Iterator[str]:
    match verdict.decision, verdict.by:
        case "deny", "builtin":
            yield "Nothing: no rule, no mode and no answer lets this run."
        case "deny" | "ask", "rule":
            yield f"Take {verdict.rule} out of {_place(verdict.where)}. An allow rule does not beat it."
            if verdict.decision == "ask":
                yield "Your yes, each time."
        case "ask", "protected":
            yield "Your yes, each time: no rule and no mode lets a protected place pass."
        case "deny", "mode" if mode == "plan":
            yield f"Approve the plan, or leave plan mode: {setting} default."
        case "allow", "rule":
            yield from _ending(effect, rules, mode)
        case "allow", _ if not effect.free:
            yield f"A deny or ask rule, for example {_example(effect)} in permissions.ask."
        case "allow", _:
            yield f"A deny rule: {effect.tool.capitalize()} in permissions.deny."
        case _:
            yield from _allowing(effect, rules, mode, setting)


def _ending(effect: Effect, rules: Rules, mode: str) -> Iterator[str]:
    """What would end that allow rules let it pass: without the ones that are named, it is asked."""
    gone: list[Rule] = []
    left = rules
    while covering := left.allowed(effect):
        gone.append(covering[0])
        left = left.without(covering[0])
    if judge(effect, left, mode).decision == "allow":
        yield f"A deny or ask rule, for example {_example(effect)} in permissions.ask: both beat an allow rule."
    else:
        named = " and ".join(f"{rule.text} out of {_place(rule.source)}" for rule in gone)
        yield f"Take {named}, or add a deny or ask rule: both beat it."


def _allowing(effect: Effect, rules: Rules, mode: str, setting: str) -> Iterator[str]:
    """What would let a question pass."""
    suggested = suggestions(effect)
    if suggested:
        if judge(effect, rules.allowing(suggested), mode).decision == "allow":
            many = "These allow rules" if len(suggested) > 1 else "This allow rule"
            yield f"{many}, in .agent/settings.local.json: {', '.join(suggested)}"
    elif effect.shell is not None:
        yield "No rule can: only lines of plain commands are covered. Written without what is named above, one could."
    modes = [other for other in MODES if other != mode and judge(effect, rules, other).decision == "allow"]
    if modes:
        yield f"Another mode: {_either([f'{setting} {other}' for other in modes])}."
    yield "Your yes, each time." if mode != "dontAsk" else "Another mode, and your yes."


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def suggestions(effect: Effect) -> tuple[str, ...]:
    """Allow rules that would cover exactly this effect; () where none can."""
    if effect.shell is not None or effect.host:
        return narrow(effect)
    rules = []
    for touch in effect.touches:
        tool = "Edit" if touch.access == "write" else "Read"
        relative = touch.named and touch.place == "inside" and not touch.named.startswith(("/", "~"))
        pattern = touch.named if relative else f"/{touch.path}"
        rules.append(f"{tool}({pattern})")
    return tuple(dict.fromkeys(rules))


def _place(where: str) -> str:
    return "the command line" if where == "command line" else where or "the rules"


def _example(effect: Effect) -> str:
    first = next(iter(suggestions(effect)), "")
    if not first and effect.shell is not None and effect.shell.parts and effect.shell.parts[0].words:
        first = f"Bash({effect.shell.parts[0].words[0]}:*)"
    return first or effect.tool.capitalize()
