"""The one door: an effect passes here or does not happen.

The order, first match wins: the built-in deny, deny rules, protected places, ask rules, effects
that are free, plan mode, allow rules, what the mode lets pass, else ask. Every decision is
recorded as `Decided`. Only this file makes a `Permit`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from codeagent.core.effects import (
    Answer,
    AskPermission,
    Decision,
    Effect,
    Permit,
    Refusal,
    Revised,
    Risk,
    Verdict,
)
from codeagent.core.events import Decided, Entry, Switched
from codeagent.core.messages import ToolUse
from codeagent.core.ports import Approver
from codeagent.core.rules import Rule, Rules, narrow

MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypass")
ALIASES = {
    "manual": "default",
    "deny": "dontAsk",
    "yolo": "bypass",
    "bypassPermissions": "bypass",
    "acceptedits": "acceptEdits",
    "dontask": "dontAsk",
    "bypasspermissions": "bypass",
}
CYCLE = ("default", "acceptEdits", "plan")
"""What Shift+Tab goes through."""

EDITS = ("edit", "write")


def mode_named(name: str) -> str:
    """The mode of this name or alias, an empty string when there is none."""
    if name in MODES:
        return name
    return ALIASES.get(name) or ALIASES.get(name.lower()) or (name.lower() if name.lower() in MODES else "")


class Gate:
    """Judges effects. `rules` gives the rules in force now; `remember` stores a rule and says where."""

    def __init__(
        self,
        approver: Approver,
        record: Callable[[Entry], None],
        rules: Callable[[], Rules],
        remember: Callable[[str], str],
        mode: str = "default",
    ) -> None:
        self.mode = mode
        self._approver, self._record = approver, record
        self._rules, self._remember = rules, remember
        self._one_question = asyncio.Lock()

    def judge(self, effect: Effect) -> Verdict:
        """What would happen to this effect, and why. Asks nobody, changes nothing."""
        rules = self._rules()
        return self._bound(effect, rules) or self._free(effect, rules) or self._asked(effect)

    def _bound(self, effect: Effect, rules: Rules) -> Verdict | None:
        """What holds in every mode."""
        if effect.shell and effect.shell.forbidden:
            return Verdict("deny", "builtin", f"{effect.shell.forbidden}. This is never run, in any mode.")
        if rule := rules.denied(effect):
            return _by_rule("deny", rule)
        for touch in effect.touches:
            if touch.place == "protected":
                what = "changes" if touch.access == "write" else "reads"
                reason = f" ({touch.why})" if touch.why else ""
                return Verdict("ask", "protected", f"It {what} {touch.named or touch.path}, a protected place{reason}.")
        if self.mode != "bypass" and (rule := rules.asked(effect)):
            return _by_rule("ask", rule)
        return None

    def _free(self, effect: Effect, rules: Rules) -> Verdict | None:
        """What runs without a question."""
        if effect.free:
            return Verdict("allow", "builtin", "It changes nothing outside this conversation.")
        harmless = self._harmless(effect)
        if self.mode == "plan" and not harmless:
            why = "Plan mode only explores. Present the plan; changes come when it is approved."
            return Verdict("deny", "mode", why)
        if covering := rules.allowed(effect):
            return _by_rule("allow", covering[0], _parts(effect, rules, "allow"))
        if harmless:
            why = "It only reads, inside the project."
            return Verdict("allow", "mode", why, parts=_parts(effect, rules, "allow"))
        if self._mode_allows(effect):
            return Verdict("allow", "mode", f"The mode {self.mode} lets it pass.", parts=_parts(effect, rules, "allow"))
        return None

    def _harmless(self, effect: Effect) -> bool:
        if effect.risk > Risk.LOW or effect.host or any(t.place != "inside" for t in effect.touches):
            return False
        if effect.shell is not None:
            return effect.shell.plain and all(part.readonly for part in effect.shell.parts)
        return all(touch.access == "read" for touch in effect.touches)

    def _mode_allows(self, effect: Effect) -> bool:
        inside = all(touch.place == "inside" for touch in effect.touches)
        match self.mode:
            case "bypass":
                return True
            case "auto":
                understood = effect.shell is None or effect.shell.plain
                return effect.risk <= Risk.MEDIUM and inside and understood
            case "acceptEdits":
                return effect.tool in EDITS and inside and effect.risk <= Risk.MEDIUM
            case _:
                return False

    def _asked(self, effect: Effect) -> Verdict:
        parts = _parts(effect, self._rules(), "ask")
        if effect.shell is not None and not effect.shell.plain:
            return Verdict("ask", "mode", effect.shell.why or "The line could not be read completely.", parts=parts)
        for touch in effect.touches:
            if touch.place == "outside":
                what = "changes" if touch.access == "write" else "reads"
                return Verdict("ask", "path", f"It {what} {touch.path}, outside the project.", parts=parts)
        risk = {Risk.LOW: "low", Risk.MEDIUM: "medium", Risk.HIGH: "high"}[effect.risk]
        return Verdict("ask", "mode", f"No rule covers it, and its risk is {risk}.", parts=parts)

    async def permit(self, use: ToolUse, effect: Effect, consent: Revised | None = None) -> Permit | Refusal | Revised:
        """Let it through, refuse it, or hand back the input as the person changed it.

        `consent` is that changed input coming again: it was accepted by the person, and only
        what binds in every mode is asked once more.
        """
        verdict = self.judge(effect)
        if consent is not None and verdict.decision != "deny":
            self._decided(use, effect, Verdict("allow", "dialog", "You changed it and accepted it."), consent.words)
            return Permit(effect, consent.words)
        if verdict.decision == "ask":
            if self.mode == "dontAsk":
                return self._refuse(use, effect, verdict, "The mode dontAsk refuses what would be asked. ")
            if not self._approver.attended:
                return self._refuse(use, effect, verdict, "Nobody is here to allow it. ", nobody=True)
            async with self._one_question:
                # The answer to the question before may have settled this one.
                verdict = self.judge(effect)
                if verdict.decision == "ask":
                    return await self._ask(use, effect, verdict)
        if verdict.decision == "deny":
            return self._refuse(use, effect, verdict, "")
        self._decided(use, effect, verdict)
        return Permit(effect)

    async def _ask(self, use: ToolUse, effect: Effect, verdict: Verdict) -> Permit | Refusal | Revised:
        words, rules = self._always(effect, verdict)
        answer = await self._approver.ask(AskPermission(use.id, effect, verdict, use.input, words, rules))
        if answer.verdict == "no":
            self._decided(use, effect, Verdict("deny", "dialog", "You said no."), answer.words)
            said = f" They say: {answer.words}" if answer.words else " Ask what they want instead, or take another way."
            return Refusal(f"The user said no to this; it was not run.{said}")
        if answer.input is not None:
            return Revised(answer.input, answer.words)
        stored: tuple[str, ...] = ()
        if answer.verdict == "always" and words:
            stored = self._store(effect, rules)
        where = ", ".join(stored)
        self._decided(use, effect, Verdict("allow", "dialog", "You said yes.", where=where), answer.words, stored)
        return Permit(effect, answer.words)

    def _always(self, effect: Effect, verdict: Verdict) -> tuple[str, tuple[str, ...]]:
        """What "don't ask again" would mean: words, and the rules it would store. Empty: not offered."""
        if verdict.by in ("protected", "rule") or any(touch.place == "protected" for touch in effect.touches):
            return "", ()
        if effect.tool in EDITS and all(touch.place == "inside" for touch in effect.touches):
            return "accept edits in this session", ()
        rules = narrow(effect)
        return (f"don't ask again for {', '.join(rules)}", rules) if rules else ("", ())

    def _store(self, effect: Effect, rules: tuple[str, ...]) -> tuple[str, ...]:
        if not rules:
            self.mode = "acceptEdits"
            self._record(Switched(mode="acceptEdits", why="you accept edits in this session"))
            return ()
        for rule in rules:
            self._remember(rule)
        return rules

    def _refuse(self, use: ToolUse, effect: Effect, verdict: Verdict, lead: str, *, nobody: bool = False) -> Refusal:
        denied = Verdict("deny", verdict.by, verdict.why, verdict.rule, verdict.where, verdict.parts)
        self._decided(use, effect, denied, nobody=nobody)
        if nobody or lead:
            return Refusal(
                f"{lead}Not run: {effect.title}. {verdict.why} Go on without it, or say what you need.", nobody
            )
        rule = f" (rule {verdict.rule})" if verdict.rule else ""
        return Refusal(f"Policy forbids this{rule}; it was not run. {verdict.why} Do not try it in another form.")

    def _decided(
        self,
        use: ToolUse,
        effect: Effect,
        verdict: Verdict,
        words: str = "",
        stored: tuple[str, ...] = (),
        *,
        nobody: bool = False,
    ) -> None:
        self._record(
            Decided(
                use.id,
                effect.tool,
                effect.title,
                verdict.decision,
                verdict.by,
                verdict.why,
                verdict.rule,
                verdict.where,
                int(effect.risk),
                words,
                stored,
                nobody,
            )
        )


def _by_rule(decision: Decision, rule: Rule, parts: tuple[tuple[str, Decision, str], ...] = ()) -> Verdict:
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


__all__ = ["ALIASES", "CYCLE", "MODES", "Answer", "Gate", "mode_named"]
